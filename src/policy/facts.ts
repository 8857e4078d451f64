import type { UnixSeconds } from "../base/time.ts";
import { readPullRequest } from "../grasp/pull-request.ts";
import { parseCoordinate } from "../nostr/coordinate.ts";
import { deletionTargets } from "../nostr/deletion.ts";
import type { EventId, NostrEvent } from "../nostr/event.ts";
import { isEventId } from "../nostr/event.ts";
import { ANNOUNCEMENT, DELETION, GRASP_LIST, METADATA, RELAY_LIST, STATE } from "../nostr/kinds.ts";
import { type Address, addressOf, type Version } from "../nostr/replaceable.ts";
import { tagValue } from "../nostr/tags.ts";
import { canWait, type HoldingFacts } from "./holding-facts.ts";
import type { Rules } from "./rules.ts";

/** What a decision on this event wants to know of the store. Absent: not asked. */
export interface Needs {
  readonly incumbent: Address | undefined;
  readonly deletion: { readonly ids: readonly EventId[]; readonly addresses: readonly Address[] } | undefined;
  /** Is one of these accepted, or does something accepted name the event? */
  readonly related: { readonly ids: readonly EventId[]; readonly addresses: readonly Address[] } | undefined;
  readonly participant: boolean;
  /** The served announcements with this identifier. */
  readonly announcements: string | undefined;
  /** Where git data is waited for, instead of `announcements`: all that is known under the identifier of an announcement or a state, or of what a PR names. */
  readonly holding: HoldingNeeds | undefined;
}

export type HoldingNeeds =
  | { readonly kind: "identifier"; readonly identifier: string }
  | { readonly kind: "repositories"; readonly addresses: readonly Address[] };

export interface Facts {
  readonly served: boolean;
  readonly gate: { readonly request: EventId; readonly vanishUntil: UnixSeconds | undefined } | undefined;
  /** Of a deletion or vanish request: it is remembered, though perhaps not served any more (grasp.md 11.2). */
  readonly remembered: boolean;
  readonly incumbent: Version | undefined;
  readonly deletion: { readonly removes: readonly Version[]; readonly unused: number } | undefined;
  readonly related: boolean;
  readonly participant: boolean;
  readonly announcements: readonly NostrEvent[];
  /** Absent: it is not of a kind that waits for git data, or nothing waits here. */
  readonly holding: HoldingFacts | undefined;
}

const NOTHING: Needs = {
  incumbent: undefined,
  deletion: undefined,
  related: undefined,
  participant: false,
  announcements: undefined,
  holding: undefined,
};

export function needs(event: NostrEvent, rules: Rules): Needs {
  const incumbent = addressOf(event);
  if (event.kind === DELETION) return { ...NOTHING, deletion: deletionTargets(event) };
  if (rules.purgatory && canWait(event.kind)) return { ...NOTHING, incumbent, holding: holdingNeeds(event) };
  if (rules.acceptance === "open") return incumbent === undefined ? NOTHING : { ...NOTHING, incumbent };
  switch (event.kind) {
    case ANNOUNCEMENT:
    case STATE:
      return { ...NOTHING, incumbent, announcements: tagValue(event, "d") ?? "" };
    case METADATA:
    case RELAY_LIST:
    case GRASP_LIST:
      return { ...NOTHING, incumbent, participant: true };
    default:
      return { ...NOTHING, incumbent, related: references(event) };
  }
}

function holdingNeeds(event: NostrEvent): HoldingNeeds {
  const address = addressOf(event);
  if (address !== undefined) return { kind: "identifier", identifier: address.d };
  return { kind: "repositories", addresses: readPullRequest(event)?.repositories ?? [] };
}

/** grasp.md 3.6: whole coordinates in `a A q`, ids in `e E q`. */
export function references(event: NostrEvent): { ids: EventId[]; addresses: Address[] } {
  const ids: EventId[] = [];
  const addresses: Address[] = [];
  for (const [name, value] of event.tags) {
    if (value === undefined) continue;
    if ((name === "e" || name === "E" || name === "q") && isEventId(value)) ids.push(value);
    else if (name === "a" || name === "A" || name === "q") {
      const address = parseCoordinate(value);
      if (address !== undefined) addresses.push(address);
    }
  }
  return { ids, addresses };
}
