import fc from "fast-check";
import { type Instant, instant, type UnixSeconds, unixSeconds } from "../../../src/base/time.ts";
import type { Oid } from "../../../src/git/oid.ts";
import type { RefName } from "../../../src/git/ref-name.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../../../src/nostr/event.ts";
import type { GateTarget, HoldingChange } from "../../../src/store/batch.ts";
import type { HeldStage } from "../../../src/store/held.ts";
import type { Provenance } from "../../../src/store/provenance.ts";
import { anyAddress, anyAuthor, anyEvents, anyId, anyTime, TIME_MAX } from "./event.ts";
import { coordinate } from "./fake-event.ts";

/** One wish of a history. What it comes to depends on what is served by then: a put makes room for itself. */
export type Step =
  | { readonly kind: "put"; readonly pick: number; readonly expiresAt: UnixSeconds | undefined; readonly provenance: Provenance }
  | { readonly kind: "remove"; readonly id: EventId }
  | {
      readonly kind: "gate";
      readonly request: EventId;
      readonly author: PublicKey;
      readonly targets: readonly GateTarget[];
      readonly seenAt: Instant;
      readonly used: boolean;
    }
  | { readonly kind: "gate-used"; readonly request: EventId; readonly at: Instant }
  | { readonly kind: "gate-forget"; readonly request: EventId }
  | {
      readonly kind: "hold";
      readonly pick: number;
      readonly more: Omit<Extract<HoldingChange, { kind: "hold" }>, "kind" | "event" | "text" | "what">;
    }
  | { readonly kind: "promote"; readonly id: EventId }
  /** Mostly from the stage that it is in. */
  | {
      readonly kind: "restage";
      readonly id: EventId;
      readonly from: HeldStage | undefined;
      readonly stage: HeldStage;
      readonly until: Instant | undefined;
    }
  | { readonly kind: "release"; readonly id: EventId; readonly from: HeldStage | undefined }
  | { readonly kind: "withdraw"; readonly id: EventId; readonly stage: HeldStage; readonly at: Instant; readonly supersededMax: number }
  | Exclude<HoldingChange, { kind: "hold" | "promote" | "restage" | "release" | "withdraw" }>;

export interface Turn {
  /** The batches of one transaction. */
  readonly batches: readonly (readonly Step[])[];
  /** It changes its mind at the end, and nothing of it happens. */
  readonly fails: boolean;
}

export interface History {
  readonly events: readonly VerifiedEvent[];
  readonly turns: readonly Turn[];
}

const anyInstant = fc.integer({ min: 0, max: 5 }).map(instant);
const anyExpiry = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: TIME_MAX }).map(unixSeconds) },
);
const anyProvenance: fc.Arbitrary<Provenance> = fc.oneof(
  fc.constant({ how: "direct" } as const),
  fc.record({ how: fc.constantFrom("live", "catch-up", "daily"), relay: fc.constantFrom("wss://one.example", "wss://two.example/path") }),
);

/** A deletion request has events and addresses, a vanish request one key; all that has a time has the request's. */
const anyTargets: fc.Arbitrary<readonly GateTarget[]> = anyTime.map(unixSeconds).chain((until) => {
  const eventTarget = anyId.map((id): GateTarget => ({ kind: "event", id }));
  const addressTarget = anyAddress.map((address): GateTarget => ({ kind: "address", address, until }));
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.oneof(eventTarget, addressTarget), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant([{ kind: "key", until } as const]) },
  );
});

const anyUntil = fc.option(anyInstant, { nil: undefined, freq: 4 });
const anyStage: fc.Arbitrary<HeldStage> = fc.constantFrom("waiting", "soft-expired", "expired", "superseded");
const anyFrom = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyStage });
/** Few, so that records meet. */
export const REPOSITORIES: readonly string[] = ["one", "two"].map((d) =>
  coordinate({ kind: 30_617, pubkey: "a".repeat(64) as PublicKey, d }),
);
const anyRepository: fc.Arbitrary<string> = fc.constantFrom(...REPOSITORIES);
const anyOid = fc.constantFrom("1".repeat(40), "2".repeat(40)).map((oid) => oid as Oid);

const anyHolding: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("hold"),
      pick: fc.nat({ max: 1000 }),
      more: fc.record({
        repositories: fc.uniqueArray(anyRepository, { maxLength: 2 }),
        heldAt: anyInstant,
        until: anyUntil,
        expiresAt: anyExpiry,
        provenance: anyProvenance,
      }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("promote"), id: anyId }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("restage"), id: anyId, from: anyFrom, stage: anyStage, until: anyUntil }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("release"), id: anyId, from: anyFrom }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("withdraw"),
      id: anyId,
      stage: anyStage,
      at: anyInstant,
      supersededMax: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("overlay"),
      repository: anyRepository,
      ref: fc.constantFrom("refs/heads/a", "refs/tags/b").map((ref) => ref as RefName),
      value: fc.option(anyOid, { nil: undefined }),
      state: anyId,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("overlay-drop"), state: anyId, repository: fc.option(anyRepository, { nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("intend"), repository: anyRepository, plan: fc.constantFrom("[]", "[1]") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("intent-done"), repository: anyRepository }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("stage-tip"),
      repository: anyRepository,
      id: anyId,
      tip: anyOid,
      until: anyInstant,
      uploader: fc.constantFrom("192.0.2.1", "2001:db8::1"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unstage-tip"), repository: anyRepository, id: anyId, tip: anyOid }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("alive"), at: anyInstant, shiftMs: fc.constantFrom(0, 0, 3) }) },
);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: anyHolding },
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant("put"), pick: fc.nat({ max: 1000 }), expiresAt: anyExpiry, provenance: anyProvenance }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("remove"), id: anyId }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("gate"),
      request: anyId,
      author: anyAuthor,
      targets: anyTargets,
      seenAt: anyInstant,
      used: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("gate-used"), request: anyId, at: anyInstant }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("gate-forget"), request: anyId }) },
);

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  batches: fc.array(fc.array(anyStep, { minLength: 1, maxLength: 8, size: "max" }), { minLength: 1, maxLength: 2 }),
  fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 5),
});

export const anyHistory: fc.Arbitrary<History> = fc.record({
  events: anyEvents,
  turns: fc.array(anyTurn, { minLength: 1, maxLength: 12, size: "max" }),
});
