import { describe, expect, it } from "vitest";
import { type Lane, makeLanes } from "../kit/write-load.ts";

/** The kill test is worth what its checker sees: here the checker is lied to. */

const EVENTS = 200;

/** A lane whose first events were answered as they should be, and what a faithful server would hold after them. */
function playedLane(answered: number): { lane: Lane; served: Set<string> } {
  const [lane] = makeLanes("checker", 1, 1_800_000_000);
  if (lane === undefined) throw new Error("no lane");
  const [twin] = makeLanes("checker", 1, 1_800_000_000);
  for (let at = 0; at < EVENTS; at++) {
    const sent = lane.next(false);
    const same = twin?.next(false);
    if (at >= answered) continue;
    lane.heard(sent, sent.expected);
    if (same !== undefined) twin?.heard(same, same.expected);
  }
  // The twin's server kept exactly what was answered, so the twin's model says what that is.
  for (const sent of twin?.sent.slice(0, answered) ?? []) if (!sent.probe) twin?.model.apply(sent.event);
  const served = new Set(twin?.model.served.keys());
  return { lane, served };
}

const someKind = (lane: Lane, kind: (kind: number) => boolean, served: Set<string>): string => {
  const found = [...lane.everSent.values()].find((event) => kind(event.kind) && served.has(event.id));
  if (found === undefined) throw new Error("the load has no such event");
  return found.id;
};

describe("the checker of the kill test", () => {
  it("is content with a server that kept everything that was answered", () => {
    const { lane, served } = playedLane(150);
    expect(lane.settle(served)).toBeUndefined();
  });

  it("is content with a server that kept some of what was not answered, in order", () => {
    const { served } = playedLane(EVENTS);
    const { lane } = playedLane(150);
    expect(lane.settle(served)).toBeUndefined();
  });

  for (const [what, kind] of [
    ["note", (kind: number) => kind === 1],
    ["replaceable event", (kind: number) => kind >= 10_000 && kind < 20_000],
    ["addressable event", (kind: number) => kind >= 30_000],
    ["deletion", (kind: number) => kind === 5],
  ] as const) {
    it(`sees a lost ${what}`, () => {
      const { lane, served } = playedLane(150);
      served.delete(someKind(lane, kind, served));
      expect(lane.settle(served)).toContain("is missing");
    });
  }

  it("sees a replacement that was rolled back and a deletion that was undone", () => {
    for (const isWanted of [(kind: number) => kind === 0 || kind >= 10_000, (kind: number) => kind < 10_000 && kind !== 0]) {
      const { lane, served } = playedLane(150);
      const gone = lane.sent
        .slice(0, 150)
        .find(({ event, probe, expected }) => isWanted(event.kind) && !probe && expected && !served.has(event.id));
      served.add(gone?.event.id ?? "");
      expect(gone).toBeDefined();
      expect(lane.settle(served)).toContain("should not be");
    }
  });

  it("sees a later event that was kept where an earlier one was not", () => {
    const { lane, served } = playedLane(100);
    const later = lane.sent.findLast(({ event, probe }) => !probe && event.kind === 1);
    served.add(later?.event.id ?? "");
    expect(lane.settle(served)).toBeDefined();
  });
});
