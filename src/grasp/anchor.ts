import { DELETION, GRASP_LIST, METADATA, RELAY_LIST, VANISH } from "../nostr/kinds.ts";

/**
 * Kinds that are taken from keys which have nothing else here, or only because their author has: an event is not accepted for naming one of these, nor its
 * author a participant for having written one. Otherwise a deletion request of a stranger, which must be taken (grasp.md 11.1), would open the door of 3.6.
 */
export const ANCHORLESS_KINDS: readonly number[] = [METADATA, DELETION, VANISH, RELAY_LIST, GRASP_LIST];

export const isAnchor = (kind: number): boolean => !ANCHORLESS_KINDS.includes(kind);
