import { countIndexedTags } from "./message-look.ts";

/** Tags that one event may have in an index for the price of one: about a millisecond of the one writer. The most that fit take 200 of them. */
const TAGS_AN_EVENT = 100;

/** grasp.md 3.3: how many plain events an unread EVENT message is worth. */
export const eventCost = (frame: string): number => Math.max(1, Math.ceil(countIndexedTags(frame) / TAGS_AN_EVENT));
