import fc from "fast-check";
import type { EventId, PublicKey, Tag, VerifiedEvent } from "../../../src/nostr/event.ts";
import { coordinate, fakeEvent, fakeId, fakeKey } from "./fake-event.ts";

/** Few of everything, so that filters hit, events name each other, addresses are fought over and times tie. */
export const AUTHORS: readonly PublicKey[] = ["alice", "bob", "carol", "mallory"].map(fakeKey);
export const KINDS: readonly number[] = [0, 1, 5, 62, 1059, 1111, 1618, 1621, 10_002, 30_617, 30_618];
export const IDENTIFIERS: readonly string[] = ["", "hold", "fast", "a:b", "ü"];
export const WORDS: readonly string[] = ["", "x", "y", "X", "%", "'", "x y", "x\u0000y", "x\u0000z", "\u{1f426}"];
export const TAG_LETTERS: readonly string[] = ["e", "E", "q", "a", "A", "d", "p", "t", "Z"];
/** How many different ids there are. */
export const IDS = 32;
/** Times lie here, but for the two ends of grasp.md 3.2. */
export const TIME_MAX = 12;

export const anyId: fc.Arbitrary<EventId> = fc.integer({ min: 0, max: IDS - 1 }).map(fakeId);
export const anyAuthor: fc.Arbitrary<PublicKey> = fc.constantFrom(...AUTHORS);
export const anyKind: fc.Arbitrary<number> = fc.constantFrom(...KINDS);
export const anyTime: fc.Arbitrary<number> = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: TIME_MAX }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 2 ** 32, Number.MAX_SAFE_INTEGER) },
);

export const anyAddress = fc.record({
  kind: fc.constantFrom(0, 10_002, 30_617, 30_618),
  pubkey: anyAuthor,
  d: fc.constantFrom(...IDENTIFIERS),
});

/** A value that stands in that tag in real events, or now and then any other. */
export function anyTagValue(letter: string): fc.Arbitrary<string> {
  const word: fc.Arbitrary<string> = fc.constantFrom(...WORDS);
  switch (letter) {
    case "e":
    case "E":
      return fc.oneof({ weight: 5, arbitrary: anyId }, { weight: 1, arbitrary: word });
    case "a":
    case "A":
      return fc.oneof({ weight: 5, arbitrary: anyAddress.map(coordinate) }, { weight: 1, arbitrary: word });
    case "q":
      return fc.oneof(anyId, anyAddress.map(coordinate));
    case "d":
      return fc.constantFrom(...IDENTIFIERS);
    case "p":
      return anyAuthor;
    default:
      return word;
  }
}

const valueTag: fc.Arbitrary<Tag> = fc
  .constantFrom(...TAG_LETTERS)
  .chain((letter) => fc.tuple(fc.constant(letter), anyTagValue(letter), fc.array(fc.constantFrom(...WORDS), { maxLength: 2 })))
  .map(([letter, value, more]) => [letter, value, ...more]);

/** Tags that no filter finds: without a value, or with a name that is not one letter. */
const idleTag: fc.Arbitrary<Tag> = fc.oneof(
  fc.constantFrom(...TAG_LETTERS).map((letter) => [letter]),
  fc.tuple(fc.constantFrom("", "ee", "alt", "dd", "1", "#t"), fc.oneof(anyId, fc.constantFrom(...WORDS))),
);

const anyTags: fc.Arbitrary<readonly Tag[]> = fc.array(fc.oneof({ weight: 5, arbitrary: valueTag }, { weight: 1, arbitrary: idleTag }), {
  maxLength: 5,
});

/** Events with ids of their own, at most `IDS` of them. */
export const anyEvents: fc.Arbitrary<readonly VerifiedEvent[]> = fc
  .array(fc.record({ pubkey: anyAuthor, kind: anyKind, created_at: anyTime, tags: anyTags, content: fc.constantFrom(...WORDS) }), {
    minLength: 1,
    maxLength: IDS,
    size: "max",
  })
  .map((parts) => parts.map((part, n) => fakeEvent({ ...part, id: fakeId(n) })));
