import { describe, expect, it } from "vitest";
import { unixSeconds } from "../../../src/base/time.ts";
import type { EventId } from "../../../src/nostr/event.ts";
import { fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import { apply, found, ids, type OpenFunction, type OpenStore, put, remove, serve, sorted, withStore } from "./bench.ts";

const alice = fakeKey("alice");
const bob = fakeKey("bob");
const request = fakeEvent({ kind: 62, created_at: 20 });
const ofAlice = { request: request.id, author: alice, vanishUntil: request.created_at };

const toVanish = (store: OpenStore, gate: Parameters<typeof ask>[1], max = 100) => ask(store, gate, max);
async function ask(
  store: OpenStore,
  gate: { readonly request: EventId; readonly author: typeof alice; readonly vanishUntil: typeof request.created_at | undefined },
  max: number,
): Promise<EventId[]> {
  return sorted(await store.writer.transact((tx) => tx.toVanish(gate, max)));
}

/** What a request to vanish removes (NIP-62; grasp.md 11.2). */
export function vanishContract(open: OpenFunction): void {
  describe("toVanish (NIP-62)", () => {
    it(
      "gives everything of the key up to its time, that second included: kinds 5 and 62 and what has expired too, but not the request",
      withStore(open, async (store) => {
        const kinds = [0, 1, 5, 62, 1059, 30_617];
        const early = kinds.map((kind, n) => fakeEvent({ kind, created_at: n }));
        const last = fakeEvent({ created_at: 20 });
        const brief = fakeEvent({ created_at: 3, content: "brief" });
        const later = [fakeEvent({ created_at: 21 }), fakeEvent({ kind: 62, created_at: 21 })];
        await serve(store, ...early, last, request, ...later, fakeEvent({ pubkey: bob, created_at: 1 }));
        await apply(store, [put(brief, { expiresAt: 1 })]);
        expect(await toVanish(store, ofAlice)).toEqual(sorted(ids(...early, last, brief)));
        expect(await toVanish(store, { ...ofAlice, request: fakeId("another") })).toEqual(sorted(ids(...early, last, brief, request)));
        expect(await toVanish(store, { ...ofAlice, author: fakeKey("carol") })).toEqual([]);
      }),
    );

    it(
      "gives the gift wraps that name the key, whoever made them, up to its time, each once",
      withStore(open, async (store) => {
        const wrap = (created_at: number, ...names: string[][]) => fakeEvent({ kind: 1059, pubkey: bob, created_at, tags: names });
        const wraps = [wrap(1, ["p", alice]), wrap(20, ["p", bob], ["p", alice, "wss://one.example"])];
        const own = fakeEvent({
          kind: 1059,
          created_at: 2,
          tags: [
            ["p", alice],
            ["p", alice],
          ],
        });
        const others = [
          wrap(21, ["p", alice]),
          wrap(3, ["p", bob]),
          wrap(4, ["P", alice], ["p", bob, alice], ["e", alice], ["p"]),
          fakeEvent({ kind: 1, pubkey: bob, created_at: 5, tags: [["p", alice]] }),
          fakeEvent({ kind: 1060, pubkey: bob, created_at: 5, tags: [["p", alice]] }),
        ];
        await serve(store, ...wraps, own, ...others);
        expect(await toVanish(store, ofAlice)).toEqual(sorted(ids(...wraps, own)));
      }),
    );

    it(
      "gives at most max, and by and by everything",
      withStore(open, async (store) => {
        const own = Array.from({ length: 10 }, (_, n) => fakeEvent({ id: fakeId(n), created_at: n, kind: n % 3 === 0 ? 5 : 1 }));
        const wraps = Array.from({ length: 7 }, (_, n) =>
          fakeEvent({ id: fakeId(100 + n), kind: 1059, pubkey: bob, created_at: n, tags: [["p", alice]] }),
        );
        const stays = [fakeEvent({ created_at: 21 }), request];
        await serve(store, ...own, ...wraps, ...stays);
        expect(await toVanish(store, ofAlice, 0)).toEqual([]);
        for (const max of [1, 9, 10, 11, 16, 17, 18]) expect(await toVanish(store, ofAlice, max)).toHaveLength(Math.min(max, 17));
        const gone: EventId[] = [];
        for (let pages = 0; pages < 10; pages++) {
          const page = await toVanish(store, ofAlice, 4);
          expect(page).toHaveLength(Math.min(4, 17 - gone.length));
          if (page.length === 0) break;
          gone.push(...page);
          await apply(store, remove(...page.map((id) => ({ id }))));
        }
        expect(sorted(gone)).toEqual(sorted(ids(...own, ...wraps)));
        expect(await found(store, filterOf())).toEqual(ids(...stays));
      }),
    );

    it(
      "gives max others where the request is the first that is found",
      withStore(open, async (store) => {
        const others = [fakeEvent({ created_at: 5 }), fakeEvent({ created_at: 6 })];
        const first = fakeEvent({ kind: 62, created_at: 0 });
        await serve(store, first, ...others);
        const page = await toVanish(store, { ...ofAlice, request: first.id, vanishUntil: unixSeconds(6) }, 1);
        expect(page).toHaveLength(1);
        expect(ids(...others)).toEqual(expect.arrayContaining(page));
      }),
    );

    it(
      "gives nothing for a request to delete (NIP-09)",
      withStore(open, async (store) => {
        await serve(store, fakeEvent({ created_at: 0 }));
        expect(await toVanish(store, { ...ofAlice, vanishUntil: undefined })).toEqual([]);
        expect(await toVanish(store, { ...ofAlice, vanishUntil: unixSeconds(0) })).toHaveLength(1);
      }),
    );

    it(
      "sees what the same work served and removed",
      withStore(open, async (store) => {
        const [e1, e2] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 })];
        await serve(store, e1);
        const left = await store.writer.transact(async (tx) => {
          await tx.apply([...remove(e1), put(e2), put(request)]);
          return tx.toVanish(ofAlice, 10);
        });
        expect(left).toEqual(ids(e2));
      }),
    );
  });
}
