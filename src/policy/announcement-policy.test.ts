import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { type Announcement, readAnnouncement } from "../grasp/announcement.ts";
import type { PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { formatReason } from "../nostr/reason.ts";
import {
  type AcceptedAnnouncement,
  type AnnouncementFacts,
  LISTED_WITHOUT_REPOSITORY_MAX,
  placeAnnouncement,
} from "./announcement-policy.ts";
import type { Rules } from "./rules.ts";

const RULES = rulesWith({ acceptance: "grasp", eventBytesMax: 1_000, unusedDeletionsMax: 3 });
const [alice, bob, carol] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol")];

function announced(owner: PublicKey, host: string, ...tags: string[][]): Announcement {
  const event = fakeEvent({
    kind: 30_617,
    pubkey: owner,
    tags: [["d", "hold"], ["clone", `https://${host}/${encodeNpub(owner)}/hold.git`], ["relays", `wss://${host}`], ...tags],
  });
  return readAnnouncement(event) as Announcement;
}

const here = (owner: PublicKey, ...tags: string[][]) => announced(owner, "git.example", ...tags);
const elsewhere = (owner: PublicKey, ...tags: string[][]) => announced(owner, "x.example", ...tags);
const hosted = (announcement: Announcement): AcceptedAnnouncement => ({ announcement, hasRepository: true });
const unhosted = (announcement: Announcement): AcceptedAnnouncement => ({ announcement, hasRepository: false });

function place(announcement: Announcement, facts: Partial<AnnouncementFacts> = {}, rules: Partial<Rules> = {}): string {
  const found = placeAnnouncement(announcement, { accepted: [], wasServed: false, ...facts }, { ...RULES, ...rules });
  return found.kind === "refused" ? formatReason(found.reason) : found.kind;
}

const NOT_OURS = "invalid: an announcement must name this server in a clone URL and in a relay URL";
const FULL = "restricted: who lists you as a maintainer has as many here without a repository as this server keeps";

describe("grasp.md 5.3", () => {
  const listing = hosted(here(alice, ["maintainers", bob]));
  test.each<[what: string, announcement: Announcement, facts: Partial<AnnouncementFacts>, rules: Partial<Rules>, answer: string]>([
    ["names us", here(bob), {}, {}, "repository"],
    ["names us and is allowed", here(bob), {}, { allowedRepositories: [{ kind: "owner", owner: bob }] }, "repository"],
    [
      "names us and is not allowed",
      here(bob),
      {},
      { allowedRepositories: [] },
      "restricted: this repository is not on the allow list of this server",
    ],
    ["names us, is not allowed, but listed", here(bob), { accepted: [listing] }, { allowedRepositories: [] }, "without-repository"],
    ["names others", elsewhere(bob), {}, {}, NOT_OURS],
    ["names others, listed", elsewhere(bob), { accepted: [listing] }, {}, "without-repository"],
    [
      "listed by one who is stored without a repository",
      elsewhere(carol),
      { accepted: [unhosted(elsewhere(bob, ["m", carol]))] },
      {},
      "without-repository",
    ],
    ["listed as lead", elsewhere(bob), { accepted: [hosted(here(alice, ["M", bob]))] }, {}, "without-repository"],
    ["listed in the past", elsewhere(bob), { accepted: [hosted(here(alice, ["m", bob, "1", "2"]))] }, {}, NOT_OURS],
    ["a moderator", elsewhere(bob), { accepted: [hosted(here(alice, ["o", bob]))] }, {}, NOT_OURS],
    [
      "the plain tag is switched off",
      elsewhere(bob),
      { accepted: [hosted(here(alice, ["m", carol], ["maintainers", bob]))] },
      {},
      NOT_OURS,
    ],
    ["listed by itself", elsewhere(bob), { accepted: [unhosted(elsewhere(bob, ["maintainers", bob]))] }, {}, NOT_OURS],
    ["was served here before", elsewhere(bob), { wasServed: true }, {}, "without-repository"],
  ])("%s", (_, announcement, facts, rules, answer) => expect(place(announcement, facts, rules)).toBe(answer));
});

describe("grasp.md 5.3: at most 100 per listing owner", () => {
  const keys = Array.from({ length: LISTED_WITHOUT_REPOSITORY_MAX + 1 }, (_, n) => fakeKey(n));
  const last = keys.at(-1) as PublicKey;
  const first = keys[0] as PublicKey;
  const lister = hosted(here(alice, ["maintainers", alice, ...keys]));
  const stored = keys.slice(0, LISTED_WITHOUT_REPOSITORY_MAX).map((key) => unhosted(elsewhere(key)));

  test("the hundredth is taken, the next is not", () => {
    expect(place(elsewhere(last), { accepted: [lister, ...stored.slice(1)] })).toBe("without-repository");
    expect(place(elsewhere(last), { accepted: [lister, ...stored] })).toBe(FULL);
  });

  test("a replacement takes no room", () => expect(place(elsewhere(first), { accepted: [lister, ...stored] })).toBe("without-repository"));

  test("those with a repository do not count, nor does the lister", () => {
    const some = [hosted(here(first)), ...stored.slice(1)];
    expect(place(elsewhere(last), { accepted: [lister, ...some] })).toBe("without-repository");
    const self = unhosted(elsewhere(alice, ["maintainers", alice, ...keys]));
    expect(place(elsewhere(last), { accepted: [self, ...stored.slice(1)] })).toBe("without-repository");
  });

  test("another owner with room is enough, and naming us always is", () => {
    expect(place(elsewhere(last), { accepted: [lister, ...stored, hosted(here(bob, ["m", last]))] })).toBe("without-repository");
    expect(place(here(last), { accepted: [lister, ...stored] })).toBe("repository");
  });
});
