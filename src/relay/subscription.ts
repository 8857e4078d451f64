import type { Filter } from "../nostr/filter.ts";
import { filterBytes, filterValues } from "../nostr/filter-limits.ts";
import { isFilterProblem, readFilters } from "../nostr/read-filter.ts";
import { type Reason, reason } from "../nostr/reason.ts";
import type { RelayLimits } from "./limits.ts";

/** Filters as they will be answered: read, counted, their limits brought down to ours. */
export interface Request {
  readonly filters: readonly Filter[];
  /** What they cost us while they are open. */
  readonly bytes: number;
}

/** The request, or the reason why it is refused. Counts come before reading, so that a long list costs nothing. */
export function readRequest(sub: string, values: readonly unknown[], limits: RelayLimits): Request | Reason {
  if (sub.length > limits.subscriptionIdLength) {
    return reason("invalid", `a subscription id has at most ${limits.subscriptionIdLength} characters`);
  }
  if (values.length > limits.filtersPerRequest)
    return reason("invalid", `at most ${limits.filtersPerRequest} filters may be asked at once`);
  const filters = readFilters(values);
  if (isFilterProblem(filters)) return reason(filters.kind, filters.text);
  const asked = filters.reduce((sum, filter) => sum + filterValues(filter), 0);
  if (asked > limits.valuesPerRequest) return reason("invalid", `at most ${limits.valuesPerRequest} values may be asked at once`);
  return {
    filters: filters.map((filter) => ({ ...filter, limit: Math.min(filter.limit ?? limits.resultsDefault, limits.resultsMax) })),
    bytes: sub.length + filters.reduce((sum, filter) => sum + filterBytes(filter), 0),
  };
}

export const isReason = (value: Request | Reason): value is Reason => "prefix" in value;
