import type { Filter } from "./filter.ts";

/** The filter as JSON, for our own clients. Reading it again gives the same filter. */
export function filterText(filter: Filter): string {
  const { tags, ...conditions } = filter;
  const text: Record<string, unknown> = { ...conditions };
  for (const [letter, values] of tags) text[`#${letter}`] = values;
  return JSON.stringify(text);
}
