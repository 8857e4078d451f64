import type { UnixSeconds } from "../base/time.ts";
import { parseCoordinate } from "../nostr/coordinate.ts";
import { deletionTargets } from "../nostr/deletion.ts";
import type { EventId, NostrEvent } from "../nostr/event.ts";
import { isEventId } from "../nostr/event.ts";
import { ANNOUNCEMENT, DELETION, GRASP_LIST, METADATA, RELAY_LIST, STATE } from "../nostr/kinds.ts";
import { type Address, addressOf, type Version } from "../nostr/replaceable.ts";
import { tagValue } from "../nostr/tags.ts";
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
}

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
}

const NOTHING: Needs = { incumbent: undefined, deletion: undefined, related: undefined, participant: false, announcements: undefined };

export function needs(event: NostrEvent, rules: Rules): Needs {
  const incumbent = addressOf(event);
  if (event.kind === DELETION) return { ...NOTHING, deletion: deletionTargets(event) };
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
