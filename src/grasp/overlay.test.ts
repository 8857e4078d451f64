import { expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { EventId } from "../nostr/event.ts";
import type { Identifier } from "./identifier.ts";
import { isOfNewerState, newestPerRef, type OverlayRecord } from "./overlay.ts";

const id = (digit: string) => digit.repeat(64) as EventId;
const record = (ref: string, state: string, at: number, value: string | undefined = "a"): OverlayRecord => ({
  repo: { owner: fakeKey("alice"), identifier: "hold" as Identifier },
  ref: ref as RefName,
  value: value === "" ? undefined : (value.repeat(40) as Oid),
  state: id(state),
  stateCreatedAt: unixSeconds(at),
});

test("grasp.md 6.7: per ref the record of the newest waiting state wins, ties to the lower id, whatever the order", () => {
  const [old, late, absent, tie] = [
    record("refs/heads/a", "1", 10),
    record("refs/heads/a", "3", 20, "b"),
    record("refs/heads/b", "4", 20, ""),
    record("refs/heads/b", "5", 20),
  ];
  for (const records of [
    [old, late, absent, tie],
    [tie, absent, late, old],
  ]) {
    const newest = newestPerRef(records);
    expect(newest.get(late.ref)).toBe(late);
    expect(newest.get(absent.ref)).toBe(absent);
    expect(newest.size).toBe(2);
  }
});

test("a state is not newer than itself", () => {
  const one = record("refs/heads/a", "2", 10);
  expect(isOfNewerState(one, { id: id("2"), createdAt: unixSeconds(10) })).toBe(false);
  expect(isOfNewerState(one, { id: id("3"), createdAt: unixSeconds(10) })).toBe(true);
  expect(isOfNewerState(one, { id: id("1"), createdAt: unixSeconds(10) })).toBe(false);
  expect(isOfNewerState(one, { id: id("1"), createdAt: unixSeconds(9) })).toBe(true);
});
