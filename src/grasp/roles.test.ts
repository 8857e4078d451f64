import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { isActive, readRoles } from "./roles.ts";

const [alice, bob, carol] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol")];
const roles = (...tags: string[][]) => readRoles(fakeEvent({ kind: 30_617, pubkey: alice, tags }));
const listed = (...tags: string[][]) => [...roles(...tags).listed];
const leads = (...tags: string[][]) => [...roles(...tags).leads];

describe("grasp.md 4.2: boundaries alternately start and end", () => {
  test.each<[boundaries: string[], active: boolean]>([
    [[], true],
    [["100"], true],
    [["0"], true],
    [["100", "200"], false],
    [["100", "200", "300"], true],
    [["100", "200", "300", "400"], false],
    [["200", "100", "5"], true],
    [["100", "defer"], false],
    [["100", "200", "300", "defer"], false],
    [["defer"], false],
    [["100", "defer", "300"], false],
    [["100", "200", "defer"], false],
    [["100", "open"], false],
    [["open"], false],
    [[""], false],
    [["-1"], false],
    [["+1"], false],
    [["1.5"], false],
    [["1e3"], false],
    [["0x10"], false],
    [[" 1"], false],
    [["1\n"], false],
    [["١"], false],
    [["100", "x", "300"], false],
    [["18446744073709551615"], true],
    [["18446744073709551616"], false],
    [["9".repeat(200_000)], false],
  ])("%j", (boundaries, active) => expect(isActive(boundaries)).toBe(active));
});

describe("grasp.md 4.2: who is listed", () => {
  test("M and m give authority, o none", () => {
    expect(listed(["M", alice], ["m", bob], ["o", carol])).toEqual([alice, bob]);
    expect(leads(["M", alice], ["m", bob], ["o", carol])).toEqual([alice]);
  });

  test("several tags for one key: active if any M or m is", () => {
    expect(listed(["m", bob, "1", "2"], ["m", bob])).toEqual([bob]);
    expect(listed(["m", bob], ["m", bob, "1", "2"])).toEqual([bob]);
    expect(listed(["M", bob, "1", "2"], ["m", bob, "3"])).toEqual([bob]);
    expect(leads(["M", bob, "1", "2"], ["m", bob, "3"])).toEqual([]);
    expect(listed(["m", bob, "1", "2"], ["o", bob])).toEqual([]);
  });

  test("without any role tag, each key in maintainers is an active m", () => {
    expect(listed(["maintainers", bob, "nobody", carol], ["maintainers", alice])).toEqual([bob, carol, alice]);
    expect(leads(["maintainers", bob])).toEqual([]);
  });

  test.each([[["M", alice]], [["m", carol]], [["o", carol]], [["M"]], [["m", "not a key"]], [["o", carol, "x"]], [["m", carol, "1", "2"]]])(
    "any role tag switches maintainers off: %j",
    (tag) => expect(listed(["maintainers", bob], tag)).not.toContain(bob),
  );

  test.each(["x", "MM", "P", "", "maintainer"])("other tags do not: %j", (name) =>
    expect(listed(["maintainers", bob], [name, carol])).toEqual([bob]),
  );

  test("a key has one spelling", () => expect(listed(["m", bob.toUpperCase()], ["m", bob.slice(1)], ["m", `${bob} `])).toEqual([]));
});

describe("grasp.md 4.3: the author is active unless role tags name it and none of its M or m is", () => {
  test.each<[what: string, tags: string[][], active: boolean]>([
    ["no role tags", [], true],
    ["maintainers without it", [["maintainers", bob]], true],
    [
      "role tags of others only",
      [
        ["M", bob],
        ["m", carol],
      ],
      true,
    ],
    ["a malformed tag that names nobody", [["M"]], true],
    ["its own M", [["M", alice]], true],
    ["its own m", [["m", alice, "1"]], true],
    ["its own ended m", [["m", alice, "1", "2"]], false],
    ["its own deferred m", [["m", alice, "1", "defer"]], false],
    ["its own malformed m", [["m", alice, "soon"]], false],
    ["only moderator of its own", [["o", alice]], false],
    [
      "an ended M and an active m",
      [
        ["M", alice, "1", "2"],
        ["m", alice, "2"],
      ],
      true,
    ],
    [
      "an ended m, whatever the plain tag says",
      [
        ["m", alice, "1", "2"],
        ["maintainers", alice],
      ],
      false,
    ],
  ])("%s", (_, tags, active) => expect(roles(...tags).authorActive).toBe(active));
});
