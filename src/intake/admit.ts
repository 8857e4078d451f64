import { type Instant, plus, toUnixSeconds, type UnixSeconds } from "../base/time.ts";
import { isOurRelay } from "../grasp/place.ts";
import { deletionTargets, isDeletable } from "../nostr/deletion.ts";
import type { EventId, VerifiedEvent } from "../nostr/event.ts";
import { expirationOf, isExpired } from "../nostr/expiration.ts";
import { DELETION, VANISH } from "../nostr/kinds.ts";
import { formatReason, PURGATORY_TEXT, REASONS, reason } from "../nostr/reason.ts";
import { retentionOf, type Version } from "../nostr/replaceable.ts";
import { asksToVanish } from "../nostr/vanish.ts";
import { decide } from "../policy/decide.ts";
import { type Facts, needs } from "../policy/facts.ts";
import type { Rules } from "../policy/rules.ts";
import type { Verdict } from "../policy/verdict.ts";
import type { Batch, Change, GateTarget } from "../store/batch.ts";
import type { FeedChange, Transaction } from "../store/event-store.ts";
import type { Candidate } from "./candidate.ts";
import { evidenceOf, evidenceOfRemoval } from "./evidence.ts";
import { type GatheredHolding, gatherHolding } from "./gather-holding.ts";
import { holdingBatch } from "./holding-batch.ts";
import { provenanceOf } from "./origin.ts";

export interface Admission {
  readonly accepted: boolean;
  /** The fourth element of the OK: empty, or a reason with its NIP-01 prefix. */
  readonly message: string;
  readonly changes: readonly FeedChange[];
  /** An ephemeral event that was accepted: to be passed on, never stored. */
  readonly passing: boolean;
  /** Identifiers whose repositories are to be settled, because what is known of them has changed (grasp.md 6.6). */
  readonly evidence: readonly string[];
}

/** Gather, decide, apply: all inside one transaction, so that no fact can change between the look and the leap. */
export async function admit(tx: Transaction, candidate: Candidate, rules: Rules, now: Instant): Promise<Admission> {
  const { event } = candidate;
  if (isExpired(event, toUnixSeconds(now))) return answer(false, formatReason(reason("invalid", "this event has expired")));
  const { facts, gateIsDue, held } = await gather(tx, candidate, rules, now);
  const verdict = decide(event, facts, rules);
  if (verdict.kind === "accept" && retentionOf(event.kind) === "ephemeral") {
    return { accepted: true, message: "", changes: [], passing: true, evidence: [] };
  }
  const vanishUntil = verdict.kind === "accept" ? vanishUntilOf(event, rules) : undefined;
  const vanishing =
    vanishUntil === undefined ? [] : await tx.toVanish({ request: event.id, author: event.pubkey, vanishUntil }, VANISH_AT_ONCE);
  const batch = batchFor(candidate, verdict, facts, rules, now, gateIsDue, vanishing, held);
  const evidence = rules.purgatory ? await gatherEvidence(tx, event, verdict, batch) : [];
  const changes = batch.length === 0 ? [] : await tx.apply(batch);
  return { ...answer(verdict.kind !== "reject", messageOf(verdict)), changes, evidence };
}

const answer = (accepted: boolean, message: string): Admission => ({ accepted, message, changes: [], passing: false, evidence: [] });

function messageOf(verdict: Verdict): string {
  if (verdict.kind === "accept") return "";
  return verdict.kind === "hold" ? PURGATORY_TEXT : formatReason(verdict.reason);
}

/** Asked before the batch is applied: afterwards what it removes cannot be read any more. */
async function gatherEvidence(tx: Transaction, event: VerifiedEvent, verdict: Verdict, batch: Batch): Promise<readonly string[]> {
  if (verdict.kind !== "accept" && verdict.kind !== "hold") return [];
  const removed = batch.filter((change) => change.kind === "remove").map(({ id }) => id);
  const addresses = event.kind === DELETION && removed.length > 0 ? deletionTargets(event).addresses : [];
  const repositories = verdict.kind === "hold" && verdict.holding.what === "pull-request" ? verdict.holding.repositories : [];
  return [...new Set([...evidenceOf(event, repositories), ...(await evidenceOfRemoval(tx, removed, addresses))])];
}

interface Gathered {
  readonly facts: Facts;
  /** The gate's last use was written on an earlier day, or never. */
  readonly gateIsDue: boolean;
  readonly held: GatheredHolding | undefined;
}

const DAY_MS = 86_400_000;

async function gather(tx: Transaction, { event, origin }: Candidate, rules: Rules, now: Instant): Promise<Gathered> {
  const asked = needs(event, rules);
  const served = await tx.serves(event.id);
  const gate = served ? undefined : await tx.gateFor(event);
  const gateIsDue =
    gate !== undefined && (gate.lastUsedAt === undefined || Math.floor(gate.lastUsedAt / DAY_MS) < Math.floor(now / DAY_MS));
  const held = served || asked.holding === undefined ? undefined : await gatherHolding(tx, event, asked.holding, rules, origin);
  const facts: Facts = {
    served,
    gate,
    remembered: !served && (event.kind === DELETION || event.kind === VANISH) && (await tx.gate(event.id)) !== undefined,
    incumbent: asked.incumbent === undefined ? undefined : await tx.incumbent(asked.incumbent),
    deletion: asked.deletion === undefined ? undefined : await gatherDeletion(tx, event, asked.deletion, rules),
    related: asked.related !== undefined && ((await tx.servesAny(asked.related.ids, asked.related.addresses)) || (await tx.isNamed(event))),
    participant: asked.participant && (await tx.hasServed(event.pubkey)),
    announcements: asked.announcements === undefined ? [] : await tx.servedByIdentifier(30_617, asked.announcements, ANNOUNCEMENTS_MAX),
    holding: held?.facts,
  };
  return { facts, gateIsDue, held };
}

/** Strangers may take the same identifier; beyond this many, the newest decide. */
const ANNOUNCEMENTS_MAX = 200;

async function gatherDeletion(
  tx: Transaction,
  event: VerifiedEvent,
  targets: NonNullable<ReturnType<typeof needs>["deletion"]>,
  rules: Rules,
): Promise<Facts["deletion"]> {
  const removes = new Map<string, Version>();
  for (const own of await tx.ownServed(event.pubkey, targets.ids)) if (isDeletable(own.kind)) removes.set(own.id, own);
  for (const address of targets.addresses) {
    const incumbent = await tx.incumbent(address);
    if (incumbent !== undefined && incumbent.created_at <= event.created_at) removes.set(incumbent.id, incumbent);
  }
  // grasp.md 11.1: what waits, or is remembered, as well as what is served.
  const waiting = rules.purgatory ? await tx.held.ownHeld(event.pubkey, targets.ids, targets.addresses, event.created_at) : [];
  for (const own of waiting) removes.set(own.id, own);
  return { removes: [...removes.values()], unused: await tx.unusedGates(event.pubkey) };
}

/** What the verdict does to the store. */
function batchFor(
  candidate: Candidate,
  verdict: Verdict,
  facts: Facts,
  rules: Rules,
  now: Instant,
  gateIsDue: boolean,
  vanishing: readonly EventId[],
  held: GatheredHolding | undefined,
): Batch {
  const { event, text, origin } = candidate;
  if (verdict.kind === "reject") {
    const refusedByGate = verdict.reason === REASONS.deleted || verdict.reason === REASONS.vanished;
    return refusedByGate && gateIsDue && facts.gate !== undefined ? [{ kind: "gate-used", request: facts.gate.request, at: now }] : [];
  }
  if (verdict.kind === "duplicate") return [];
  if (verdict.kind === "hold") return holdingBatch(candidate, verdict.holding, held ?? NONE_BEFORE, now);
  const batch: Change[] = [];
  if (facts.incumbent !== undefined)
    batch.push(verdict.delists ? delisting(facts.incumbent, now) : { kind: "remove", id: facts.incumbent.id });
  // grasp.md 5.4: what waited in its place is older.
  if (held?.before !== undefined) batch.push({ kind: "remove", id: held.before.event.id });
  const removes = rules.ignoreDeletions ? [] : (facts.deletion?.removes.map(({ id }) => id) ?? []);
  for (const id of [...removes, ...vanishing]) batch.push({ kind: "remove", id });
  batch.push({ kind: "put", event, text, expiresAt: expirationOf(event), provenance: provenanceOf(origin) });
  const targets = gateTargets(event, rules);
  // A deletion that names nothing of its author is remembered too: only so is it counted (grasp.md 11.1) and ends some day (11.2).
  if (targets.length > 0 || (event.kind === DELETION && !rules.ignoreDeletions)) {
    batch.push({
      kind: "gate",
      request: event.id,
      author: event.pubkey,
      targets,
      seenAt: now,
      used: removes.length > 0 || event.kind === VANISH,
    });
  }
  return batch;
}

const NONE_BEFORE = { before: undefined, evicts: [] } as const;

/** grasp.md 11.4: a de-listed repository is held so long. The announcement that named us stays as the record of it, unserved. */
const DELISTED_HELD_MS = 90 * DAY_MS;

const delisting = ({ id }: Version, now: Instant): Change => ({
  kind: "withdraw",
  id,
  what: "announcement",
  stage: "superseded",
  at: now,
  until: plus(now, DELISTED_HELD_MS),
  supersededMax: SUPERSEDED_MAX,
});

/** Nothing leaves for it: how many superseded states stay is decided where states are superseded. */
const SUPERSEDED_MAX = Number.MAX_SAFE_INTEGER;

/** Events that a request to vanish removes in its own commit, so that with its OK nearly everybody is gone; the sweeper removes the rest. */
export const VANISH_AT_ONCE = 500;

function vanishUntilOf(event: VerifiedEvent, rules: Rules): UnixSeconds | undefined {
  const asks = event.kind === VANISH && !rules.ignoreDeletions && asksToVanish(event, (relay) => isOurRelay(rules.places, relay));
  return asks ? event.created_at : undefined;
}

function gateTargets(event: VerifiedEvent, rules: Rules): GateTarget[] {
  const vanishUntil = vanishUntilOf(event, rules);
  if (vanishUntil !== undefined) return [{ kind: "key", until: vanishUntil }];
  if (event.kind !== DELETION || rules.ignoreDeletions) return [];
  const { ids, addresses } = deletionTargets(event);
  return [
    ...ids.map((id) => ({ kind: "event", id }) as const),
    ...addresses.map((address) => ({ kind: "address", address, until: event.created_at }) as const),
  ];
}
