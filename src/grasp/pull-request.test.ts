import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { Identifier } from "./identifier.ts";
import { isFor, type PullRequest, readPullRequest } from "./pull-request.ts";

const [alice, bob, carol] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol")];
const TIP = "a".repeat(40);
const event = (...tags: string[][]) => fakeEvent({ kind: 1_618, pubkey: carol, created_at: 7, tags });

describe("grasp.md §1, 6.9: reading", () => {
  test("the tip, every repository, every clone URL", () => {
    const request = event(
      ["a", `30617:${alice}:hold`],
      ["a", `30617:${bob}:a:b`],
      ["a", `30618:${alice}:hold`],
      ["a", "nonsense"],
      ["a"],
      ["c", TIP],
      ["clone", "https://one.example", "https://two.example"],
      ["clone", "https://three.example"],
    );
    expect(readPullRequest(request)).toEqual({
      id: request.id,
      author: carol,
      createdAt: 7,
      tip: TIP,
      repositories: [
        { kind: 30_617, pubkey: alice, d: "hold" },
        { kind: 30_617, pubkey: bob, d: "a:b" },
      ],
      clone: ["https://one.example", "https://two.example", "https://three.example"],
    });
  });

  test("without a c tag there is nothing to wait for", () => {
    expect(readPullRequest(event())).toBeUndefined();
    expect(readPullRequest(event(["c"]))).toBeUndefined();
  });

  test.each(["", "main", TIP.toUpperCase(), `${TIP} `, "0".repeat(40), "--upload-pack=x", "HEAD~1"])(
    "a tip %j is never satisfied, and goes no further",
    (c) => expect(readPullRequest(event(["c", c]))).toMatchObject({ tip: undefined }),
  );

  test("64 digits are a tip too", () => expect(readPullRequest(event(["c", "b".repeat(64)]))).toMatchObject({ tip: "b".repeat(64) }));
});

describe("grasp.md 6.9: where its tip is placed", () => {
  const request = readPullRequest(event(["a", `30617:${alice}:hold`], ["a", `30617:${bob}:other`], ["c", TIP])) as PullRequest;
  const placed = (identifier: string, ...confirmed: (typeof alice)[]) =>
    isFor(request, { identifier: identifier as Identifier }, new Set(confirmed));

  test("in every repository whose maintainer set meets the keys of its a tags", () => {
    expect(placed("hold", alice)).toBe(true);
    expect(placed("hold", bob, alice)).toBe(true);
    expect(placed("other", bob)).toBe(true);
  });

  test("not in a stranger's of that name, nor in another repository of those keys", () => {
    expect(placed("hold", carol)).toBe(false);
    expect(placed("hold", bob)).toBe(false);
    expect(placed("third", alice, bob)).toBe(false);
    expect(placed("hold")).toBe(false);
  });
});
