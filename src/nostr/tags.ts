import type { NostrEvent } from "./event.ts";

type Tagged = Pick<NostrEvent, "tags">;

export const hasTag = (event: Tagged, name: string): boolean => event.tags.some((tag) => tag[0] === name);

/** The value of the first tag with this name that has one. */
export function tagValue(event: Tagged, name: string): string | undefined {
  for (const tag of event.tags) if (tag[0] === name && tag[1] !== undefined) return tag[1];
  return undefined;
}

/** The value of each tag with this name, one per tag: `e`, `a`, `p` and the like. */
export function tagValues(event: Tagged, name: string): readonly string[] {
  const values: string[] = [];
  for (const tag of event.tags) if (tag[0] === name && tag[1] !== undefined) values.push(tag[1]);
  return values;
}

/** Everything after the name, over all tags with it: `clone`, `relays` and `maintainers` hold many values in one tag. */
export function tagLists(event: Tagged, name: string): readonly string[] {
  const values: string[] = [];
  for (const tag of event.tags) if (tag[0] === name) for (let i = 1; i < tag.length; i++) values.push(tag[i] as string);
  return values;
}
