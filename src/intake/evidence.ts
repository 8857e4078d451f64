import { readPullRequest } from "../grasp/pull-request.ts";
import type { EventId, NostrEvent } from "../nostr/event.ts";
import { ANNOUNCEMENT, PR, PR_UPDATE, STATE } from "../nostr/kinds.ts";
import { type Address, addressOf } from "../nostr/replaceable.ts";
import type { Transaction } from "../store/event-store.ts";

/** The identifiers whose repositories an event may change what is to be served of (grasp.md 6.6). */
export function evidenceOf(event: NostrEvent): readonly string[] {
  if (event.kind === PR || event.kind === PR_UPDATE) {
    return [...new Set((readPullRequest(event)?.repositories ?? []).map(({ d }) => d))];
  }
  const address = addressOf(event);
  return address === undefined || !isOfRepository(address) ? [] : [address.d];
}

/**
 * The same of what is about to be removed: held events, and whatever has one of these addresses. A served one that is named by its id only is not found
 * here; who follows the feed sees it go.
 */
export async function evidenceOfRemoval(
  tx: Transaction,
  ids: readonly EventId[],
  addresses: readonly Address[],
): Promise<readonly string[]> {
  const found = new Set(addresses.filter(isOfRepository).map(({ d }) => d));
  for (const id of ids) {
    const held = await tx.held.heldEvent(id);
    if (held !== undefined) for (const identifier of evidenceOf(held.event)) found.add(identifier);
  }
  return [...found];
}

const isOfRepository = ({ kind }: Address): boolean => kind === ANNOUNCEMENT || kind === STATE;
