import fc from "fast-check";
import { unixSeconds } from "../../../src/base/time.ts";
import type { ObjectFormat, Oid } from "../../../src/git/oid.ts";
import { clash, type RefMap } from "../../../src/git/ref-map.ts";
import type { RefName } from "../../../src/git/ref-name.ts";
import { type Announcement, readAnnouncement } from "../../../src/grasp/announcement.ts";
import type { Identifier } from "../../../src/grasp/identifier.ts";
import { type MaintainerPolicy, maintainerSet } from "../../../src/grasp/maintainers.ts";
import type { OverlayRecord } from "../../../src/grasp/overlay.ts";
import { readPullRequest } from "../../../src/grasp/pull-request.ts";
import { readState } from "../../../src/grasp/state.ts";
import type { PublicKey } from "../../../src/nostr/event.ts";
import type {
  AnnouncementEvidence,
  Evidence,
  ObjectLookup,
  PullRequestEvidence,
  RepositoryEvidence,
  StateEvidence,
} from "../../../src/settle/evidence.ts";
import { fakeEvent, fakeId, fakeKey } from "./fake-event.ts";

/** Evidence whose maintainer sets can be worked out again when announcements come and go. */
export interface KitEvidence extends Evidence {
  readonly policy: MaintainerPolicy;
  readonly announcements: readonly (Announcement & Pick<AnnouncementEvidence, "standing">)[];
}

const IDENTIFIER = "hold" as Identifier;
/** The last one is in nobody's list and has no announcement. */
export const KEYS: readonly PublicKey[] = ["alice", "bob", "carol", "mallory"].map(fakeKey);
const LISTED = KEYS.slice(0, 3);
const NAMES = ["refs/heads/main", "refs/heads/master", "refs/heads/a", "refs/heads/a/b", "refs/tags/v1"] as RefName[];

/** Few objects: the first four commits, then two others, then a commit of the other format. */
export const OIDS: readonly Oid[] = [..."123456"].map((digit) => digit.repeat(40) as Oid).concat("7".repeat(64) as Oid);
const kindOf = (oid: Oid) => ("56".includes(oid[0] as string) ? "other" : "commit");

export const lookup =
  (present: ReadonlySet<Oid>): ObjectLookup =>
  (oid) =>
    present.has(oid) ? kindOf(oid) : "absent";

/** Works the maintainer sets out of the announcements, as whoever gathers evidence does. */
export function withMaintainers<E extends KitEvidence>(evidence: E): E {
  const view = (owner: PublicKey) => maintainerSet(evidence.announcements, owner, evidence.policy);
  return { ...evidence, repositories: evidence.repositories.map((one) => ({ ...one, maintainers: view(one.owner) })) };
}

const anyTime = fc.integer({ min: 0, max: 6 });
const anyKey = fc.constantFrom(...KEYS);
const usually = <T>(value: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other });

const anyAnnouncement = (owner: PublicKey, n: number) =>
  fc
    .record({
      maintainers: fc.subarray([...LISTED], { minLength: 0 }),
      lead: usually<PublicKey | undefined>(undefined, fc.constantFrom(...LISTED)),
      created_at: anyTime,
      standing: fc.constantFrom("served", "waiting", "soft-expired"),
    })
    .map(({ maintainers, lead, created_at, standing }) => {
      const roles = lead === undefined ? [] : [["M", lead], ...maintainers.map((key) => ["m", key])];
      const tags = [["d", IDENTIFIER], ["maintainers", ...maintainers], ...roles];
      const read = readAnnouncement(fakeEvent({ id: fakeId(`announcement ${n}`), pubkey: owner, kind: 30_617, created_at, tags }));
      if (typeof read === "string") throw new Error(read);
      return { ...read, standing } as const;
    });

const anyValue = fc
  .oneof({ weight: 8, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: fc.nat({ max: OIDS.length - 1 }) })
  .map((n) => OIDS[n] as string);
const anyRefTags = fc.uniqueArray(fc.tuple(fc.constantFrom<string>(...NAMES), usually("", fc.constant("no object")), anyValue), {
  selector: ([name]) => name,
  maxLength: 4,
});

const anyState = (n: number) =>
  fc
    .record({
      pubkey: anyKey,
      created_at: anyTime,
      refs: anyRefTags,
      head: fc.constantFrom(undefined, "ref: refs/heads/main", "ref: refs/heads/a", "refs/heads/gone"),
      standing: fc.constantFrom("served", "waiting", "waiting", "superseded"),
    })
    .map(({ pubkey, created_at, refs, head, standing }): StateEvidence => {
      const tags = [["d", IDENTIFIER], ...refs.map(([name, bad, oid]) => [name, n % 7 === 6 && bad !== "" ? bad : oid])];
      if (head !== undefined) tags.push(["HEAD", head]);
      return { state: readState(fakeEvent({ id: fakeId(`state ${n}`), pubkey, created_at, kind: 30_618, tags })), standing };
    });

const anyPullRequest = (n: number) =>
  fc
    .record({
      named: fc.subarray([...KEYS], { minLength: 1, maxLength: 2 }),
      d: usually<string>(IDENTIFIER, fc.constant("other")),
      tip: anyValue,
    })
    .chain(({ named, d, tip }) => {
      const tags = [["c", tip], ...named.map((key) => ["a", `30617:${key}:${d}`])];
      const request = readPullRequest(fakeEvent({ id: fakeId(`pr ${n}`), pubkey: fakeKey("mallory"), kind: 1618, tags }));
      if (request === undefined) throw new Error("a PR with a tip is a PR");
      return fc.constantFrom("served", "waiting").map((standing): PullRequestEvidence => ({ request, standing }));
    });

const anyRefs: fc.Arbitrary<RefMap> = fc
  .record({
    pairs: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.nat({ max: 3 })), { selector: ([name]) => name, maxLength: 3 }),
    tips: fc.uniqueArray(fc.tuple(fc.constantFrom("pr 0", "pr 1", "stranger"), fc.nat({ max: 3 })), {
      selector: ([name]) => name,
      maxLength: 2,
    }),
    head: fc.constantFrom(...NAMES.slice(0, 3)),
  })
  .map(({ pairs, tips, head }) => {
    const refs = new Map<RefName, Oid>(tips.map(([label, n]) => [`refs/nostr/${fakeId(label)}` as RefName, OIDS[n] as Oid]));
    for (const [name, n] of pairs) if (clash([...refs.keys(), name]) === undefined) refs.set(name, OIDS[n] as Oid);
    return { refs, head };
  });

const anyRepository = (owner: PublicKey, states: readonly StateEvidence[]): fc.Arbitrary<Omit<RepositoryEvidence, "maintainers">> =>
  fc
    .record({
      standing: fc.constantFrom("served", "waiting"),
      refs: anyRefs,
      format: usually<ObjectFormat | undefined>("sha1", fc.constant(undefined)),
      missing: fc.subarray([...OIDS], { maxLength: 3 }),
      aligned: usually<number>(0, fc.integer({ min: -1, max: states.length })),
    })
    .map(({ standing, refs, format, missing, aligned }) => {
      const state = states[aligned]?.state;
      // One past the end: a state that is gone.
      const gone = aligned === states.length ? { id: fakeId("gone"), createdAt: unixSeconds(3) } : undefined;
      const objects = lookup(new Set(OIDS.filter((oid) => !missing.includes(oid))));
      return { owner, standing, refs, format, objects, aligned: state === undefined ? gone : { id: state.id, createdAt: state.createdAt } };
    });

const anyRecord = (states: readonly StateEvidence[]): fc.Arbitrary<OverlayRecord> =>
  fc
    .record({
      repository: fc.constantFrom(...LISTED),
      pick: fc.nat({ max: Math.max(0, states.length - 1) }),
      ref: fc.constantFrom(...NAMES),
      stray: usually(false, fc.constant(true)),
    })
    .map(({ repository, pick, ref, stray }) => {
      const state = states[pick]?.state;
      const of = { state: state?.id ?? fakeId("gone"), stateCreatedAt: state?.createdAt ?? unixSeconds(3) };
      return { repo: { owner: repository, identifier: IDENTIFIER }, ref, value: stray ? OIDS[0] : state?.refs.get(ref), ...of };
    });

const numbered = <T>(make: (n: number) => fc.Arbitrary<T>, max: number): fc.Arbitrary<readonly T[]> =>
  fc.nat({ max }).chain((length) => fc.tuple(...Array.from({ length }, (_, n) => make(n))));

/** Anything that could be found, sane or not: settling has to cope with what a crash or an older version left. */
export const anyEvidence: fc.Arbitrary<KitEvidence> = fc
  .tuple(
    numbered(anyState, 8),
    fc.subarray([...LISTED], { minLength: 1 }),
    fc.constantFrom<MaintainerPolicy>("reciprocal", "reciprocal", "recursive", "owner-only"),
  )
  .chain(([states, owners, policy]) =>
    fc.record({
      identifier: fc.constant(IDENTIFIER),
      policy: fc.constant(policy),
      states: fc.constant(states),
      announcements: fc
        .tuple(
          ...LISTED.map((owner, n) =>
            usually(1, fc.constantFrom(0, 2)).chain((length) =>
              fc.tuple(...Array.from({ length }, (_, m) => anyAnnouncement(owner, n * 2 + m))),
            ),
          ),
        )
        .map((lists) => lists.flat()),
      pullRequests: numbered(anyPullRequest, 2),
      overlay: fc.uniqueArray(anyRecord(states), {
        maxLength: 4,
        selector: ({ repo, ref, state }) => `${repo.owner} ${ref} ${state}`,
      }),
      repositories: fc.tuple(...owners.map((owner) => anyRepository(owner, states))),
    }),
  )
  .map((evidence) =>
    withMaintainers({
      ...evidence,
      repositories: evidence.repositories.map((one) => ({
        ...one,
        maintainers: { confirmed: new Set<PublicKey>(), restsOn: () => new Set<PublicKey>() },
      })),
    }),
  );

/** The same evidence with every list in another order. */
export const reordered = (evidence: KitEvidence): fc.Arbitrary<KitEvidence> => {
  const shuffled = <T>(list: readonly T[]) => fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
  return fc
    .record({
      announcements: shuffled(evidence.announcements),
      states: shuffled(evidence.states),
      pullRequests: shuffled(evidence.pullRequests),
      overlay: shuffled(evidence.overlay),
      repositories: shuffled(evidence.repositories),
    })
    .map((lists) => withMaintainers({ ...evidence, ...lists }));
};
