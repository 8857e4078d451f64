import type { Instant } from "../base/time.ts";
import type { Filter } from "../nostr/filter.ts";
import { filterValues } from "../nostr/filter-limits.ts";
import type { Reason } from "../nostr/reason.ts";
import type { Connection, Terms } from "./connection-state.ts";
import { slowDown, spendRate } from "./connection-words.ts";
import { isReason, type Request, readRequest } from "./subscription.ts";

/** Values that one query may look up for the price of one: about a millisecond of reading. Ten thousand take tens of them. */
const VALUES_A_QUERY = 500;

/** grasp.md 3.3, query cost: how many plain queries this one is worth. */
export function queryCost(filters: readonly Filter[]): number {
  const values = filters.reduce((sum, filter) => sum + filterValues(filter), 0);
  return Math.max(1, Math.ceil(values / VALUES_A_QUERY));
}

/** A request that was paid for out of the connection's allowance, or the reason why there is none. One is paid for the reading alone. */
export function readPaidRequest(
  terms: Terms,
  before: Connection,
  sub: string,
  values: readonly unknown[],
  now: Instant,
): { readonly state: Connection; readonly request: Request | Reason } {
  const read = spendRate(terms, before, "queries", now);
  if (!read.ok) return { state: read.state, request: slowDown("queries") };
  const request = readRequest(sub, values, terms.limits);
  const priceMax = terms.rates.queries?.burst ?? 1;
  const rest = isReason(request) ? 0 : Math.min(queryCost(request.filters), priceMax) - 1;
  if (rest === 0) return { state: read.state, request };
  const paid = spendRate(terms, read.state, "queries", now, rest);
  return { state: paid.state, request: paid.ok ? request : slowDown("queries") };
}
