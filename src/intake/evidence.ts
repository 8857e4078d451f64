import { readRepoCoordinate } from "../grasp/repo-id.ts";
import type { EventId, NostrEvent } from "../nostr/event.ts";
import { ANNOUNCEMENT, STATE } from "../nostr/kinds.ts";
import { type Address, addressOf } from "../nostr/replaceable.ts";
import type { Transaction } from "../store/event-store.ts";

/**
 * The identifiers whose repositories an event may change what is to be served of (grasp.md 6.6): its own, or those of the repositories here that a PR is
 * for. What a PR names beside them is nobody's work.
 */
export function evidenceOf(event: NostrEvent, repositories: readonly string[]): readonly string[] {
  const address = addressOf(event);
  if (address !== undefined) return isOfRepository(address) ? [address.d] : [];
  return repositories.map(readRepoCoordinate).flatMap((repo) => (repo === undefined ? [] : [repo.identifier]));
}

/**
 * The same of what is about to be removed: held events, and what is served at one of these addresses. A served one that is named by its id only is not
 * found here; who follows the feed sees it go.
 */
export async function evidenceOfRemoval(
  tx: Transaction,
  ids: readonly EventId[],
  addresses: readonly Address[],
): Promise<readonly string[]> {
  const found: string[] = [];
  const removed = new Set(ids);
  for (const address of addresses.filter(isOfRepository)) {
    const incumbent = await tx.incumbent(address);
    if (incumbent !== undefined && removed.has(incumbent.id)) found.push(address.d);
  }
  for (const id of ids) {
    const held = await tx.held.heldEvent(id);
    if (held !== undefined) found.push(...evidenceOf(held.event, held.repositories));
  }
  return found;
}

const isOfRepository = ({ kind }: Address): boolean => kind === ANNOUNCEMENT || kind === STATE;
