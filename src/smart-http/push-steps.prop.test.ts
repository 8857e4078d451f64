import fc from "fast-check";
import { expect, it } from "vitest";
import { oid, ref } from "../../test/kit/git-rig.ts";
import { unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import type { PushFacts } from "../policy/push-facts.ts";
import { judgePush } from "../policy/push-policy.ts";
import { firstStep, laneStep } from "./push-steps.ts";

const ALICE = "a".repeat(64) as PublicKey;
const EVENT = "b".repeat(64) as EventId;
const OIDS = ["1", "2", "3"].map((digit) => oid(digit.repeat(40)));
const NAMES = ["refs/heads/a", "refs/heads/b", "refs/tags/t", `refs/nostr/${EVENT}`].map(ref);

const value = fc.constantFrom(undefined, ...OIDS);
const refs = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...OIDS)), { selector: ([name]) => name });
const commands = fc.uniqueArray(fc.record({ ref: fc.constantFrom(...NAMES), from: value, to: value }), {
  selector: (one) => one.ref,
  minLength: 1,
});
const facts = fc.record({ present: refs, declared: refs, bytesLeft: fc.constantFrom(0, 10) }).map(
  ({ present, declared, bytesLeft }): PushFacts => ({
    repo: { owner: ALICE, identifier: "demo" as Identifier },
    confirmed: new Set([ALICE]),
    present: { refs: new Map(present), head: ref("refs/heads/a") },
    format: undefined,
    states: [
      {
        id: "c".repeat(64) as EventId,
        author: ALICE,
        identifier: "demo",
        createdAt: unixSeconds(1_700_000_000),
        refs: new Map<RefName, Oid>(declared.filter(([name]) => !name.startsWith("refs/nostr/"))),
        head: undefined,
        flaw: undefined,
      },
    ],
    servedState: undefined,
    overlay: [],
    pullRequests: new Map(),
    unsigned: { tips: new Map(), tipsPerIdMax: 4, bytesLeft },
  }),
);
const SIZES = { packBytesMax: 100, strangerBytesMax: 50 };

/** What objects were received for, on an earlier verdict. */
const earlier = fc.constantFrom(undefined, { unsigned: [] }, ...OIDS.map((tip) => ({ unsigned: [{ event: EVENT, tip }] })));

it("whatever was received before: only what is allowed under the lock is done, from what is there then (grasp.md 7.5, 7.10)", () => {
  let applied = 0;
  fc.assert(
    fc.property(commands, facts, earlier, (list, now, received) => {
      const verdict = judgePush(list, now);
      const step = laneStep(verdict, now, received);
      if (verdict.kind === "refused") expect(step.kind).toBe("refuse");
      if (step.kind !== "apply") return;
      applied++;
      expect(verdict.kind).toBe("allowed");
      for (const { ref: name, from, to } of step.updates) {
        expect(list.some((command) => command.ref === name && command.to === to)).toBe(true);
        expect(from).toBe(now.present.refs.get(name));
        // grasp.md 7.6: neither zero to zero nor a change that is none.
        expect(from).not.toBe(to);
        expect(now.states[0]?.refs.get(name)).toBe(to);
      }
      // Nothing is applied or staged whose objects nobody received.
      if (received === undefined) expect([step.tips, step.unsigned]).toEqual([[], []]);
      for (const tip of step.unsigned) expect(received?.unsigned).toContainEqual(tip);
      expect(step.records.map((record) => record.ref)).toEqual(step.updates.map((update) => update.ref));
    }),
    { seed: 7_10, numRuns: 5_000 },
  );
  expect(applied).toBeGreaterThan(100);
});

it("a refused push names every ref with ng, and none is ok (grasp.md 7.7)", () => {
  fc.assert(
    fc.property(commands, facts, fc.boolean(), (list, known, hasReserve) => {
      const step = firstStep(judgePush(list, known), known, hasReserve, SIZES);
      if (step.kind !== "refuse" && step.kind !== "answer") return;
      expect(step.report.results.map((result) => result.ref)).toEqual(list.map((update) => update.ref));
      expect(new Set(step.report.results.map((result) => result.kind))).toEqual(new Set([step.kind === "refuse" ? "ng" : "ok"]));
    }),
    { seed: 7_07, numRuns: 1_000 },
  );
});
