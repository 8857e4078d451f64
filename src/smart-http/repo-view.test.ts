import { expect, it } from "vitest";
import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { RepoView } from "./ports.ts";
import { shownRefs } from "./repo-view.ts";

const A = "a".repeat(40) as Oid;
const B = "b".repeat(40) as Oid;
const ref = (name: string): RefName => name as RefName;
const served = (refs: Readonly<Record<string, Oid>>, peeled: Readonly<Record<string, Oid>> = {}): RepoView => ({
  kind: "served",
  refs: { refs: new Map(Object.entries(refs) as [RefName, Oid][]), head: ref("refs/heads/main") },
  peeled: new Map(Object.entries(peeled) as [RefName, Oid][]),
  format: "sha1",
  directory: "/nowhere",
});

it("an unknown repository shows nothing", () => expect(shownRefs({ kind: "unknown" })).toBeUndefined());

it("grasp.md 5.5: one that waits is empty, with the unborn HEAD master", () => {
  expect(shownRefs({ kind: "empty" })).toEqual({ refs: { refs: new Map(), head: "refs/heads/master" }, format: "sha1" });
});

it("branches, tags and tips of pull requests are shown, and nothing else", () => {
  const nostr = `refs/nostr/${"1".repeat(64)}`;
  const hidden = { "refs/holdfast/kept": B, "refs/nostr/short": B, "refs/remotes/x/y": B };
  const shown = shownRefs(served({ "refs/heads/main": A, ...hidden, "refs/tags/v1": B, [nostr]: A }));
  expect([...(shown?.refs.refs.keys() ?? [])]).toEqual(["refs/heads/main", "refs/tags/v1", nostr]);
  expect(shown?.refs.head).toBe("refs/heads/main");
});

it("what an annotated tag names follows its object; one that is gone leaves nothing", () => {
  const shown = shownRefs(served({ "refs/heads/main": A, "refs/tags/v1": B }, { "refs/tags/v1": A, "refs/tags/gone": A }));
  expect(shown?.peeled).toEqual(new Map([[B, A]]));
});
