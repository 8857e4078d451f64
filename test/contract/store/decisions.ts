import { describe, expect, it } from "vitest";
import { ANCHORLESS_KINDS } from "../../../src/grasp/anchor.ts";
import type { Tag } from "../../../src/nostr/event.ts";
import type { Transaction } from "../../../src/store/event-store.ts";
import { coordinate, type EventParts, fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { apply, ids, type OpenFunction, type OpenStore, put, remove, serve, sorted, withStore } from "./bench.ts";

const alice = fakeKey("alice");
const bob = fakeKey("bob");

const asked = <T>(store: OpenStore, question: (tx: Transaction) => T | Promise<T>): Promise<T> => store.writer.transact(question);

const announcement = (d: string | undefined, parts: EventParts = {}) =>
  fakeEvent({ kind: 30_617, ...parts, tags: [...(d === undefined ? [] : [["d", d]]), ...(parts.tags ?? [])] });

/** What a decision may look at (grasp.md 3.6, 11.1). */
export function decisionContract(open: OpenFunction): void {
  describe("facts for a decision", () => {
    it(
      "serves: until it is removed, expired or not (NIP-40)",
      withStore(open, async (store) => {
        const event = fakeEvent();
        expect(await asked(store, (tx) => tx.serves(event.id))).toBe(false);
        await apply(store, [put(event, { expiresAt: 1 })]);
        expect(await asked(store, (tx) => tx.serves(event.id))).toBe(true);
        await apply(store, remove(event));
        expect(await asked(store, (tx) => tx.serves(event.id))).toBe(false);
      }),
    );

    it(
      "incumbent: the served event at an address of kind, author and first d (NIP-01)",
      withStore(open, async (store) => {
        const hold = announcement("hold", { created_at: 5, tags: [["d", "second"]] });
        const colon = announcement("a:b", { created_at: 6 });
        const bare = announcement(undefined, { created_at: 7 });
        const profile = fakeEvent({ kind: 0, created_at: 8, tags: [["d", "ignored"]] });
        const note = fakeEvent({ kind: 1, created_at: 9, tags: [["d", "hold"]] });
        await serve(store, hold, colon, bare, profile, note);
        const at = (kind: number, d: string, pubkey = alice) => asked(store, (tx) => tx.incumbent({ kind, pubkey, d }));
        expect(await at(30_617, "hold")).toEqual({ id: hold.id, created_at: 5 });
        expect(await at(30_617, "a:b")).toEqual({ id: colon.id, created_at: 6 });
        expect(await at(30_617, "")).toEqual({ id: bare.id, created_at: 7 });
        expect(await at(0, "")).toEqual({ id: profile.id, created_at: 8 });
        expect(await at(30_617, "second")).toBeUndefined();
        expect(await at(30_618, "hold")).toBeUndefined();
        expect(await at(30_617, "hold", bob)).toBeUndefined();
        expect(await at(0, "ignored")).toBeUndefined();
        expect(await at(1, "hold")).toBeUndefined();
      }),
    );

    it(
      "incumbent: follows a replacement, and is gone with the event",
      withStore(open, async (store) => {
        const old = announcement("hold", { created_at: 5 });
        const young = announcement("hold", { created_at: 6 });
        const address = { kind: 30_617, pubkey: alice, d: "hold" };
        await serve(store, old);
        await apply(store, [...remove(old), put(young)]);
        expect(await asked(store, (tx) => tx.incumbent(address))).toEqual({ id: young.id, created_at: 6 });
        await apply(store, remove(young));
        expect(await asked(store, (tx) => tx.incumbent(address))).toBeUndefined();
      }),
    );

    it(
      "ownServed: of the named ids those that are served and the author's own (grasp.md 11.1)",
      withStore(open, async (store) => {
        const mine = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2, kind: 5 }), fakeEvent({ created_at: 3 })] as const;
        const theirs = fakeEvent({ pubkey: bob });
        await serve(store, ...mine, theirs);
        await apply(store, remove(mine[2]));
        const named = [...ids(...mine, theirs, mine[0]), fakeId("unknown")];
        const own = await asked(store, (tx) => tx.ownServed(alice, named));
        const expected = mine.slice(0, 2).map(({ id, created_at, kind }) => ({ id, created_at, kind }));
        expect(own.toSorted((a, b) => a.created_at - b.created_at)).toEqual(expected);
        expect(await asked(store, (tx) => tx.ownServed(alice, []))).toEqual([]);
      }),
    );

    it(
      "ownServed: takes the 2,048 targets of the largest request (grasp.md 11.1)",
      withStore(open, async (store) => {
        const events = Array.from({ length: 2048 }, (_, n) => fakeEvent({ id: fakeId(n), created_at: n }));
        await serve(store, ...events.slice(0, 100));
        const own = await asked(store, (tx) => tx.ownServed(alice, ids(...events)));
        expect(sorted(ids(...own))).toEqual(sorted(ids(...events.slice(0, 100))));
      }),
    );

    it(
      "servesAny: one id or one whole address is enough (grasp.md 3.6)",
      withStore(open, async (store) => {
        const note = fakeEvent();
        const hold = announcement("hold");
        await serve(store, note, hold);
        const any = (named: Parameters<Transaction["servesAny"]>[0], ...ds: string[]) =>
          asked(store, (tx) =>
            tx.servesAny(
              named,
              ds.map((d) => ({ kind: 30_617, pubkey: alice, d })),
            ),
          );
        expect(await any([])).toBe(false);
        expect(await any([fakeId("unknown")], "fast")).toBe(false);
        expect(await any([fakeId("unknown"), note.id])).toBe(true);
        expect(await any([], "fast", "hold")).toBe(true);
        expect(await asked(store, (tx) => tx.servesAny([], [{ kind: 30_617, pubkey: bob, d: "hold" }]))).toBe(false);
        await apply(store, remove(note, hold));
        expect(await any([note.id], "hold")).toBe(false);
      }),
    );

    const hold = announcement("hold");
    const profile = fakeEvent({ kind: 10_002, tags: [["d", "ignored"]] });
    const note = fakeEvent({ tags: [["d", "hold"]] });
    const other = fakeId("other");
    const holdAt = coordinate({ kind: 30_617, pubkey: alice, d: "hold" });
    const profileAt = coordinate({ kind: 10_002, pubkey: alice, d: "" });

    it.each<[string, boolean, Tag[], typeof note]>([
      ["e with its id", true, [["e", note.id]], note],
      [
        "E with its id",
        true,
        [
          ["t", "x"],
          ["E", note.id, "wss://one.example"],
        ],
        note,
      ],
      ["q with its id", true, [["q", note.id]], note],
      ["e with the id of an addressable event", true, [["e", hold.id]], hold],
      ["a with its address", true, [["a", holdAt]], hold],
      ["A with its address", true, [["A", holdAt]], hold],
      ["q with its address", true, [["q", holdAt]], hold],
      ["a with a replaceable event's address, which ends in a colon", true, [["a", profileAt]], profile],
      ["a with its id", false, [["a", note.id]], note],
      ["e with its address", false, [["e", holdAt]], hold],
      ["p with its id", false, [["p", note.id]], note],
      ["e with its id as second value", false, [["e", other, note.id]], note],
      ["e with another id, and one without value", false, [["e", other], ["e"], ["q"], ["a"]], note],
      [
        "a longer tag name, or none",
        false,
        [
          ["ee", note.id],
          ["eE", note.id],
          ["", note.id],
        ],
        note,
      ],
      ["the address of another author", false, [["a", coordinate({ kind: 30_617, pubkey: bob, d: "hold" })]], hold],
      ["the address of another kind", false, [["a", coordinate({ kind: 30_618, pubkey: alice, d: "hold" })]], hold],
      ["the d that a replaceable event does not have", false, [["a", `${profileAt}ignored`]], profile],
      ["a replaceable event's address without the last colon", false, [["a", profileAt.slice(0, -1)]], profile],
      ["the address that a regular kind does not have", false, [["a", coordinate({ kind: 1, pubkey: alice, d: "hold" })]], note],
    ])("isNamed by %s: %s (grasp.md 3.6)", (_what, expected, tags, event) =>
      withStore(open, async (store) => {
        const naming = fakeEvent({ pubkey: bob, tags });
        await serve(store, fakeEvent({ pubkey: bob, created_at: 1 }));
        expect(await asked(store, (tx) => tx.isNamed(event))).toBe(false);
        await serve(store, naming);
        expect(await asked(store, (tx) => tx.isNamed(event))).toBe(expected);
        await apply(store, remove(naming));
        expect(await asked(store, (tx) => tx.isNamed(event))).toBe(false);
      })(),
    );

    it.each(ANCHORLESS_KINDS)("kind %i anchors nothing: it must not open the door of grasp.md 3.6", (kind) =>
      withStore(open, async (store) => {
        const named = fakeEvent();
        const anchorless = fakeEvent({ kind, tags: [["q", named.id]] });
        await serve(store, anchorless);
        expect(await asked(store, (tx) => tx.isNamed(named))).toBe(false);
        expect(await asked(store, (tx) => tx.servesAny([anchorless.id], [{ kind, pubkey: alice, d: "" }]))).toBe(false);
        expect(await asked(store, (tx) => tx.hasServed(alice))).toBe(false);
        await serve(store, fakeEvent({ kind: 1621, tags: [["q", named.id]] }));
        expect(await asked(store, (tx) => tx.isNamed(named))).toBe(true);
        expect(await asked(store, (tx) => tx.hasServed(alice))).toBe(true);
      })(),
    );

    it(
      "hasServed: anything of the key (grasp.md 3.6)",
      withStore(open, async (store) => {
        const event = fakeEvent({ kind: 1621 });
        await serve(store, event);
        expect(await asked(store, (tx) => tx.hasServed(alice))).toBe(true);
        expect(await asked(store, (tx) => tx.hasServed(bob))).toBe(false);
        await apply(store, remove(event));
        expect(await asked(store, (tx) => tx.hasServed(alice))).toBe(false);
      }),
    );

    it(
      "servedByIdentifier: whole events of every author, newest first, ties by lower id, at most max (grasp.md 4.1)",
      withStore(open, async (store) => {
        const events = ["alice", "bob", "carol", "dave"].map((name, n) =>
          announcement("hold", { id: fakeId(n), pubkey: fakeKey(name), created_at: n === 3 ? 9 : 5, content: name }),
        );
        const decoys = [
          announcement("fast"),
          announcement("x", { tags: [["d", "hold"]] }),
          fakeEvent({ kind: 30_618, tags: [["d", "hold"]] }),
        ];
        await serve(store, ...decoys, ...events);
        const expected = events.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
        for (const max of [0, 1, 2, 3, 4, 100]) {
          expect(await asked(store, (tx) => tx.servedByIdentifier(30_617, "hold", max)), `max ${max}`).toEqual(expected.slice(0, max));
        }
        expect(await asked(store, (tx) => tx.servedByIdentifier(30_617, "unknown", 5))).toEqual([]);
        // NIP-01: without a `d` tag it is empty.
        const bare = announcement(undefined, { created_at: 1 });
        await serve(store, bare);
        expect(await asked(store, (tx) => tx.servedByIdentifier(30_617, "", 5))).toEqual([bare]);
      }),
    );
  });
}
