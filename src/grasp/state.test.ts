import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { readOid } from "../git/oid.ts";
import { readRefName } from "../git/ref-name.ts";
import { readState } from "./state.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const LONG = "c".repeat(64);
const ZERO = "0".repeat(40);

const state = (...tags: string[][]) => readState(fakeEvent({ kind: 30_618, tags: [["d", "hold"], ...tags] }));
const refs = (...tags: string[][]) => Object.fromEntries(state(...tags).refs);
const NO_OID = "a ref has a value that is no object id";
const NO_NAME = "a ref has a name that git does not take";
const CLASH = "two refs cannot stand together, because one is a directory of the other";
const FORMATS = "its refs are of two object formats";

test("who, what and when come along", () => {
  const event = fakeEvent({ kind: 30_618, pubkey: fakeKey("bob"), created_at: 7, tags: [["d", "a:b"]] });
  expect(readState(event)).toMatchObject({ id: event.id, author: fakeKey("bob"), createdAt: 7, identifier: "a:b", flaw: undefined });
});

test("the identifier is the one the event is replaced by", () => {
  const identifier = (...tags: string[][]) => readState(fakeEvent({ kind: 30_618, tags })).identifier;
  expect(identifier()).toBe("");
  expect(identifier(["d", "x"], ["d", "y"])).toBe("x");
  expect(identifier(["d"], ["d", "x"])).toBe("");
});

describe("grasp.md 6.4: refs", () => {
  test("branches and tags with 40 or 64 lower-case hex", () => {
    expect(refs(["refs/heads/main", A], ["refs/tags/v1", B])).toEqual({ "refs/heads/main": A, "refs/tags/v1": B });
    expect(refs(["refs/heads/main", LONG])).toEqual({ "refs/heads/main": LONG });
  });

  test("only these; other tags say nothing about refs", () => {
    const found = state(
      ["refs/notes/x", A],
      ["refs/nostr/y", A],
      ["refs/heads", A],
      ["refs", A],
      ["r", "refs/heads/z", A],
      ["t", "x"],
      ["HEADS"],
    );
    expect(found.refs.size).toBe(0);
    expect(found.flaw).toBeUndefined();
  });

  test("names ending in ^{} are ignored, whatever their value", () => {
    expect(state(["refs/tags/v1", A], ["refs/tags/v1^{}", B], ["refs/tags/v2^{}", "nonsense"])).toMatchObject({
      refs: new Map([["refs/tags/v1", A]]),
      flaw: undefined,
    });
  });

  test("further values of a tag do not matter", () => expect(refs(["refs/heads/main", A, B, "x"])).toEqual({ "refs/heads/main": A }));

  test("of two tags for one ref the last counts", () =>
    expect(refs(["refs/heads/main", A], ["refs/heads/main", B])).toEqual({ "refs/heads/main": B }));

  test("`ref: refs/heads/x` is resolved once within the state", () => {
    expect(refs(["refs/heads/now", "ref: refs/heads/main"], ["refs/heads/main", A])).toEqual({ "refs/heads/now": A, "refs/heads/main": A });
    expect(refs(["refs/heads/main", A], ["refs/tags/latest", "ref: refs/heads/main"])).toMatchObject({ "refs/tags/latest": A });
  });

  test.each<[what: string, value: string]>([
    ["undeclared", "ref: refs/heads/gone"],
    ["itself one", "ref: refs/heads/again"],
    ["the ref itself", "ref: refs/heads/x"],
    ["a tag", "ref: refs/tags/v1"],
    ["elsewhere", "ref: HEAD"],
    ["without the space", "ref:refs/heads/main"],
    ["with one more", "ref:  refs/heads/main"],
    ["with something behind", "ref: refs/heads/main "],
  ])("but not when its target is %s", (_, value) => {
    const found = state(["refs/heads/main", A], ["refs/tags/v1", A], ["refs/heads/again", "ref: refs/heads/main"], ["refs/heads/x", value]);
    expect(found.flaw).toBe(NO_OID);
    expect([...found.refs.keys()]).not.toContain("refs/heads/x");
  });
});

describe("grasp.md 6.4: what can never be satisfied still makes a state, and no such value goes further", () => {
  test.each([
    "",
    "main",
    A.slice(1),
    `${A}a`,
    A.toUpperCase(),
    ` ${A}`,
    `${A}\n`,
    ZERO,
    "0".repeat(64),
    "--upload-pack=x",
    "HEAD",
    `${A}^{}`,
  ])("a value %j", (value) => {
    expect(state(["refs/heads/main", value], ["refs/heads/good", A])).toMatchObject({
      refs: new Map([["refs/heads/good", A]]),
      flaw: NO_OID,
    });
  });

  test("no value at all", () => expect(state(["refs/heads/main"])).toMatchObject({ refs: new Map(), flaw: NO_OID }));

  test.each([
    "",
    "a..b",
    "a b",
    "-/.x",
    "a.lock",
    "a/",
    "/a",
    "a//b",
    "@{",
    "x\n",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[",
    "a\\b",
    ".a",
    "a.",
  ])("a name %j", (name) => {
    for (const place of ["refs/heads/", "refs/tags/"]) {
      expect(state([`${place}${name}`, A])).toMatchObject({ refs: new Map(), flaw: NO_NAME });
    }
  });

  test("names that cannot stand together", () => {
    expect(state(["refs/heads/a", A], ["refs/heads/a/b", A]).flaw).toBe(CLASH);
    expect(state(["refs/heads/a/b/c", A], ["refs/heads/a", A]).flaw).toBe(CLASH);
    expect(state(["refs/heads/a", A], ["refs/heads/ab", A], ["refs/tags/a/b", A]).flaw).toBeUndefined();
  });

  test("two object formats", () => {
    expect(state(["refs/heads/a", A], ["refs/heads/b", LONG]).flaw).toBe(FORMATS);
    expect(state(["refs/heads/a", LONG], ["refs/heads/b", LONG]).flaw).toBeUndefined();
  });

  test("no refs at all is no flaw (6.10)", () => expect(state()).toMatchObject({ refs: new Map(), flaw: undefined }));
});

describe("grasp.md 6.4: HEAD", () => {
  const tags = [
    ["refs/heads/main", A],
    ["refs/heads/dev", B],
    ["refs/heads/next", B],
    ["refs/tags/v1", A],
  ];
  test.each<[head: string, branch: string | undefined]>([
    ["ref: refs/heads/main", "refs/heads/main"],
    ["refs/heads/main", "refs/heads/main"],
    ["ref: refs/heads/undeclared", "refs/heads/undeclared"],
    [A, "refs/heads/main"],
    [B, undefined],
    ["d".repeat(40), undefined],
    [A.toUpperCase(), undefined],
    [ZERO, undefined],
    ["ref: refs/tags/v1", undefined],
    ["refs/tags/v1", undefined],
    ["refs/heads/", undefined],
    ["refs/heads/a..b", undefined],
    ["ref:refs/heads/main", undefined],
    [`ref: ${A}`, undefined],
    ["main", undefined],
    ["", undefined],
  ])("%j", (head, branch) => expect(state(["HEAD", head], ...tags).head).toBe(branch));

  test("absent", () => expect(state(...tags).head).toBeUndefined());
  test("without a value", () => expect(state(["HEAD"], ...tags).head).toBeUndefined());
  test("a strange one is no flaw", () => expect(state(["HEAD", "nonsense"], ...tags).flaw).toBeUndefined());
});

test("whatever the tags are, only git's own names and ids come out", () => {
  const text = fc.oneof(
    fc.constantFrom(A, B, LONG, ZERO, "", "ref: refs/heads/a", "--exec=x", "-", "refs/heads/a", "a", "a/b", "..", "\0"),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  const name = fc.oneof(
    fc.tuple(fc.constantFrom("refs/heads/", "refs/tags/", "refs/"), text).map(([place, rest]) => place + rest),
    fc.constantFrom("HEAD", "d"),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 8 }), (pairs) => {
      const found = readState(fakeEvent({ kind: 30_618, tags: pairs }));
      for (const [ref, oid] of found.refs) {
        expect(readRefName(ref)).toBe(ref);
        expect(readOid(oid)).toBe(oid);
        expect(ref).toMatch(/^refs\/(heads|tags)\/./);
      }
      if (found.head !== undefined) expect(readRefName(found.head)).toBe(found.head);
    }),
    runs(1_000),
  );
});
