import { parseCoordinate } from "../nostr/coordinate.ts";
import type { NostrEvent, PublicKey } from "../nostr/event.ts";
import { ANNOUNCEMENT, STATE } from "../nostr/kinds.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { blockedAuthor, type Reason, reason } from "../nostr/reason.ts";
import { tagValue, tagValues } from "../nostr/tags.ts";
import type { RepositoryRule, Rules } from "./rules.ts";

/** grasp.md 3.6: first the author, then the repositories; a veto that nothing overrides. */
export function judgeBlocks(event: NostrEvent, rules: Rules): Reason | undefined {
  if (rules.blockedAuthors.includes(event.pubkey)) return blockedAuthor(encodeNpub(event.pubkey));
  if (rules.blockedRepositories.length === 0) return undefined;
  const blocked = repositoriesOf(event).some((repository) =>
    rules.blockedRepositories.some((rule) => covers(rule, repository.owner, repository.identifier)),
  );
  return blocked ? reason("blocked", "this repository is on the block list of this server") : undefined;
}

export function covers(rule: RepositoryRule, owner: PublicKey, identifier: string): boolean {
  switch (rule.kind) {
    case "owner":
      return rule.owner === owner;
    case "identifier":
      return rule.identifier === identifier;
    case "repository":
      return rule.owner === owner && rule.identifier === identifier;
  }
}

/** The repositories an event is of or is about. */
function repositoriesOf(event: NostrEvent): { owner: PublicKey; identifier: string }[] {
  if (event.kind === ANNOUNCEMENT || event.kind === STATE) return [{ owner: event.pubkey, identifier: tagValue(event, "d") ?? "" }];
  const named = [];
  for (const letter of ["a", "A", "q"]) {
    for (const value of tagValues(event, letter)) {
      const address = parseCoordinate(value);
      if (address?.kind === ANNOUNCEMENT) named.push({ owner: address.pubkey, identifier: address.d });
    }
  }
  return named;
}
