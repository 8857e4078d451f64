import { describe, expect, test } from "vitest";
import { countIndexedTags, isPlausible, peekEventId } from "./message-look.ts";

const ID = "ab".repeat(32);

describe("a look before parsing (grasp.md 3.3)", () => {
  const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
  const keys = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n}":0`).join(",")}}`;

  test.each<[string, string]>([
    ["5 MiB of opening brackets", "[".repeat(5 * 1024 * 1024)],
    ["lists in lists", nested("[", "]", 10_000)],
    ["objects in objects", `${'{"a":'.repeat(2_000)}0${"}".repeat(2_000)}`],
    ["hundreds of thousands of keys", keys(300_000)],
    ["many small objects, each with a key of its own", `[${Array.from({ length: 6_000 }, (_, n) => `{"${n}":0}`).join(",")}]`],
    ["nesting inside an EVENT", `["EVENT",${nested("[", "]", 5_000)}]`],
  ])("%s: not worth parsing", (_, text) => expect(isPlausible(text)).toBe(false));

  test.each<[string, string]>([
    ["a short one, whatever it holds", nested("[", "]", 500)],
    ["brackets inside a string", `["EVENT",{"content":"${'[{\\":'.repeat(100_000)}"}]`],
    ["a string that ends in backslashes", `["CLOSE","${"\\\\".repeat(1_000)}"]`],
    ["an event of 20,000 tags", `["EVENT",{"tags":[${Array.from({ length: 20_000 }, (_, n) => `["t","${n}"]`).join(",")}]}]`],
    [
      "20 filters with every letter",
      `["REQ","s",${Array.from({ length: 20 }, () => `{${[..."abcdefghijklmnopqrstuvwxyz"].map((l) => `"#${l}":["x"]`).join(",")}}`).join(",")}]`,
    ],
    ["10,000 ids", `["REQ","s",{"ids":[${Array.from({ length: 10_000 }, () => `"${ID}"`).join(",")}]}]`],
  ])("%s: worth parsing", (_, text) => expect(isPlausible(text)).toBe(true));
});

test("the id to address a refusal to is a key's value, never something inside a string", () => {
  expect(peekEventId(`["EVENT",{"content":"\\"id\\":\\"${"0".repeat(64)}\\"","id": "${ID}"}]`)).toBe(ID);
  expect(peekEventId(`["EVENT",{"content":"\\"id\\":\\"${ID}\\""}]`)).toBeUndefined();
});

describe("tags that end in an index, counted without parsing", () => {
  const frame = (tags: readonly string[]) => `["EVENT",{"content":"${" ".repeat(1_000)}[\\"t\\",","tags":[${tags.join(",")}]}]`;
  /** The list of tags itself counts too. */
  const count = (tags: readonly string[]) => countIndexedTags(frame(tags)) - 1;

  test.each<[string, string, number]>([
    ["one letter", '["t","x"]', 1],
    ["with white space", '[ "t", "x"]', 1],
    ["written with an escape", '["\\u0074","x"]', 1],
    ["a ref", '["refs/heads/main","ab"]', 0],
    ["a word", '["relays","wss://a","wss://b"]', 0],
    ["brackets in a value", '["name","[[[["]', 0],
  ])("%s", (_, tag, each) => {
    expect(count([tag])).toBe(each);
    expect(count(Array.from({ length: 300 }, () => tag))).toBe(300 * each);
  });
});
