import fc from "fast-check";
import { unixSeconds } from "../../../src/base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "../../../src/nostr/event.ts";
import type { Filter } from "../../../src/nostr/filter.ts";
import { anyAuthor, anyId, anyKind, anyTagValue, anyTime, TAG_LETTERS } from "./event.ts";

/** A condition is absent more often than not, else two would hardly ever meet in an event. */
const sometimes = <T>(condition: fc.Arbitrary<T>, absent = 2): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: absent, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: condition });

/** Lists repeat values, and are now and then empty (which matches nothing). */
const list = <T>(value: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> =>
  fc.oneof({ weight: 12, arbitrary: fc.array(value, { minLength: 1, maxLength }) }, { weight: 1, arbitrary: fc.constant<T[]>([]) });

const tagCondition = fc.constantFrom(...TAG_LETTERS).chain((letter) => fc.tuple(fc.constant(letter), list(anyTagValue(letter), 8)));
const anyTagConditions = fc
  .oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: fc.array(tagCondition, { minLength: 1, maxLength: 2 }) })
  .map((conditions) => new Map(conditions));

export const anyFilter: fc.Arbitrary<Filter> = fc.record({
  ids: sometimes(list(anyId, 12), 5),
  authors: sometimes(list(anyAuthor, 3)),
  kinds: sometimes(list(anyKind, 5)),
  tags: anyTagConditions,
  since: sometimes(anyTime.map(unixSeconds)),
  until: sometimes(anyTime.map(unixSeconds)),
  limit: sometimes(fc.integer({ min: 0, max: 8 })),
});

/** Half of these are bent so that they match one of the events: conditions on several tags would hardly ever hit by chance. */
export const filterNear = (events: readonly NostrEvent[]): fc.Arbitrary<Filter> =>
  fc.tuple(anyFilter, fc.constantFrom(...events), fc.boolean()).map(([filter, event, bend]) => (bend ? bentTo(event, filter) : filter));

function bentTo(event: NostrEvent, filter: Filter): Filter {
  const { ids, authors, kinds, since = event.created_at, until = event.created_at } = filter;
  const own = event.tags.filter(([name = "", value]) => TAG_LETTERS.includes(name) && value !== undefined);
  const noise = [...filter.tags.values()];
  return {
    ...filter,
    ids: ids && [...ids, event.id],
    authors: authors && [event.pubkey, ...authors],
    kinds: kinds && [...kinds, event.kind],
    since: filter.since && unixSeconds(Math.min(since, event.created_at)),
    until: filter.until && unixSeconds(Math.max(until, event.created_at)),
    tags: new Map(noise.slice(0, own.length).map((values, n) => [own[n]?.[0] ?? "", [...values, own[n]?.[1] ?? ""]])),
  };
}

export interface FilterParts {
  readonly ids?: readonly EventId[];
  readonly authors?: readonly PublicKey[];
  readonly kinds?: readonly number[];
  readonly tags?: Readonly<Record<string, readonly string[]>>;
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

/** A filter as a test would write it. */
export function filterOf({ tags = {}, since, until, ...rest }: FilterParts = {}): Filter {
  return {
    ...rest,
    tags: new Map(Object.entries(tags)),
    since: since === undefined ? undefined : unixSeconds(since),
    until: until === undefined ? undefined : unixSeconds(until),
  };
}
