import type { UnixSeconds } from "../base/time.ts";
import { type EventId, isEventId, isPublicKey, KIND_MAX, type PublicKey } from "./event.ts";
import type { Filter } from "./filter.ts";
import { REASONS } from "./reason.ts";

/** Why a filter was not taken. `kind` is the prefix that the answer deserves; the text never repeats what the client wrote. */
export interface FilterProblem {
  readonly kind: "invalid" | "unsupported";
  readonly text: string;
}

export const isFilterProblem = (value: Filter | FilterProblem | readonly Filter[]): value is FilterProblem => "kind" in value;

const invalid = (text: string): FilterProblem => ({ kind: "invalid", text });
const UNKNOWN_ELEMENT: FilterProblem = { kind: "unsupported", text: REASONS.unknownFilterElements.text };
const TAG_CONDITION = /^#[a-zA-Z]$/;

/** NIP-01: these two hold event ids and keys, so nothing else can match. `#E` and `#P` (NIP-22) are not named there and take any string. */
const HEX_LETTERS: ReadonlySet<string> = new Set(["e", "p"]);

const NO_TAGS: Filter["tags"] = new Map();

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** NIP-01's conditions, each checked once and for all. An empty list is legal and matches nothing; `limit` 0 is legal and asks for live events only. */
export function readFilter(value: unknown): Filter | FilterProblem {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return invalid("a filter is a JSON object");
  const tags = new Map<string, readonly string[]>();
  const filter: Writable<Filter> = { tags };
  for (const [key, condition] of Object.entries(value)) {
    const problem = readCondition(filter, tags, key, condition);
    if (problem !== undefined) return problem;
  }
  // Most filters of a flood have none, and each map would cost more than the rest of the filter.
  if (tags.size === 0) filter.tags = NO_TAGS;
  return filter;
}

/** All of them, or what is wrong with the first that is wrong. */
export function readFilters(values: readonly unknown[]): readonly Filter[] | FilterProblem {
  const filters: Filter[] = [];
  for (const value of values) {
    const filter = readFilter(value);
    if (isFilterProblem(filter)) return filter;
    filters.push(filter);
  }
  return filters;
}

function readCondition(
  filter: Writable<Filter>,
  tags: Map<string, readonly string[]>,
  key: string,
  condition: unknown,
): FilterProblem | undefined {
  switch (key) {
    case "ids": {
      const ids = readList(condition, isIdValue);
      if (ids === undefined) return invalid("ids must be a list of 64 lower-case hex digits each");
      filter.ids = ids;
      return undefined;
    }
    case "authors": {
      const authors = readList(condition, isKeyValue);
      if (authors === undefined) return invalid("authors must be a list of 64 lower-case hex digits each");
      filter.authors = authors;
      return undefined;
    }
    case "kinds": {
      const kinds = readList(condition, isKind);
      if (kinds === undefined) return invalid("kinds must be a list of whole numbers from 0 to 65535");
      filter.kinds = kinds;
      return undefined;
    }
    case "since":
    case "until":
      if (!isCount(condition)) return invalid(`${key} must be a whole number from 0 to 2^53-1`);
      filter[key] = condition as UnixSeconds;
      return undefined;
    case "limit":
      if (!isCount(condition)) return invalid("limit must be a whole number from 0 to 2^53-1");
      filter.limit = condition;
      return undefined;
    default:
      return readTagCondition(tags, key, condition);
  }
}

function readTagCondition(tags: Map<string, readonly string[]>, key: string, condition: unknown): FilterProblem | undefined {
  if (!TAG_CONDITION.test(key)) return UNKNOWN_ELEMENT;
  const letter = key.slice(1);
  const isHex = HEX_LETTERS.has(letter);
  const values = readList(condition, isHex ? isIdValue : isText);
  if (values === undefined)
    return invalid(isHex ? `${key} must be a list of 64 lower-case hex digits each` : `${key} must be a list of strings`);
  tags.set(letter, values);
  return undefined;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isIdValue = (value: unknown): value is EventId => typeof value === "string" && isEventId(value);
const isKeyValue = (value: unknown): value is PublicKey => typeof value === "string" && isPublicKey(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isKind = (value: unknown): value is number => isCount(value) && value <= KIND_MAX;

/** The list without repetitions, in its order: a value said twice must not be looked up twice. */
function readList<T>(value: unknown, isItem: (item: unknown) => item is T): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  for (const item of value) if (!isItem(item)) return undefined;
  return value.length < 2 ? value : [...new Set<T>(value)];
}
