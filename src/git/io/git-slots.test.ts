import fc from "fast-check";
import { expect, it } from "vitest";
import { settled } from "../../../test/kit/test-clock.ts";
import { type GitPurpose, GitSlots, type SlotLimits } from "./git-slots.ts";

const limits: SlotLimits = {
  totalMax: 6,
  keptForPushes: 2,
  keptForFetches: 2,
  perAddressMax: 3,
  waitingPerAddressMax: 4,
  waitingMax: 100,
};

/** Asks, and tells who has got a slot so far. */
function asker(slots: GitSlots): {
  ask: (name: string, purpose: GitPurpose, address?: string) => Promise<void>;
  got: string[];
  back: Map<string, () => void>;
} {
  const got: string[] = [];
  const back = new Map<string, () => void>();
  const ask = async (name: string, purpose: GitPurpose, address?: string): Promise<void> => {
    void slots.take(purpose, address).then((giveBack) => {
      got.push(name);
      back.set(name, giveBack);
    });
    await settled();
  };
  return { ask, got, back };
}

it("fetches cannot take what is kept for pushes, nor pushes what is kept for fetches (grasp.md 7.16)", async () => {
  const slots = new GitSlots(limits);
  const { ask, got } = asker(slots);
  for (let n = 0; n < 6; n++) await ask(`f${n}`, "fetch", `a${n}`);
  expect(got).toEqual(["f0", "f1", "f2", "f3"]);
  for (let n = 0; n < 3; n++) await ask(`p${n}`, "push", `a${n}`);
  expect(got.slice(4)).toEqual(["p0", "p1"]);
  expect(slots.running).toBe(6);
});

it("upkeep leaves the room of both", async () => {
  const slots = new GitSlots(limits);
  const { ask, got } = asker(slots);
  for (let n = 0; n < 6; n++) await ask(`u${n}`, "upkeep");
  expect(got).toEqual(["u0", "u1"]);
});

it("one address has its share, and addresses take turns", async () => {
  const slots = new GitSlots({ ...limits, keptForPushes: 0, totalMax: 4 });
  const { ask, got, back } = asker(slots);
  for (let n = 0; n < 6; n++) await ask(`a${n}`, "fetch", "a");
  expect(got).toEqual(["a0", "a1", "a2"]);
  await ask("b0", "fetch", "b");
  await ask("b1", "fetch", "b");
  expect(got.at(-1)).toBe("b0");
  back.get("a0")?.();
  back.get("a1")?.();
  await settled();
  expect(new Set(got.slice(4))).toEqual(new Set(["a3", "b1"]));
});

it("beyond what may wait it is busy", async () => {
  const slots = new GitSlots(limits);
  for (let n = 0; n < 7; n++) void slots.take("fetch", "a").catch(() => undefined);
  await expect(slots.take("fetch", "a")).rejects.toMatchObject({ fault: { kind: "busy" } });
});

it("who leaves while waiting is passed over", async () => {
  const slots = new GitSlots(limits);
  const { ask, got, back } = asker(slots);
  for (let n = 0; n < 3; n++) await ask(`a${n}`, "fetch", "a");
  const abort = new AbortController();
  const left = slots.take("fetch", "a", abort.signal);
  await ask("a4", "fetch", "a");
  abort.abort();
  await expect(left).rejects.toMatchObject({ fault: { kind: "aborted" } });
  back.get("a0")?.();
  await settled();
  expect(got.at(-1)).toBe("a4");
  await expect(slots.take("fetch", "a", AbortSignal.abort())).rejects.toMatchObject({ fault: { kind: "aborted" } });
});

it("no sequence of asking and giving back exceeds a limit or leaves a slot unused", async () => {
  const step = fc.record({
    purpose: fc.constantFrom<GitPurpose>("push", "fetch", "upkeep"),
    address: fc.constantFrom("a", "b", "c"),
    back: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const slots = new GitSlots({ ...limits, waitingPerAddressMax: 100 });
      const held: { purpose: GitPurpose; address: string; giveBack: () => void }[] = [];
      for (const { purpose, address, back } of steps) {
        if (back) held.shift()?.giveBack();
        else void slots.take(purpose, address).then((giveBack) => held.push({ purpose, address, giveBack }));
        await settled();
        const of = (key: "purpose" | "address", value: string): number => held.filter((slot) => slot[key] === value).length;
        expect(held.length).toBe(slots.running);
        expect(held.length).toBeLessThanOrEqual(6);
        expect(held.length - of("purpose", "push")).toBeLessThanOrEqual(4);
        expect(held.length - of("purpose", "fetch")).toBeLessThanOrEqual(4);
        for (const name of ["a", "b", "c"]) expect(of("address", name)).toBeLessThanOrEqual(3);
      }
      while (held.length > 0) {
        held.shift()?.giveBack();
        await settled();
      }
      expect([slots.running, slots.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 60, seed: 7 },
  );
});
