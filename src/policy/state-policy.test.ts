import { expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { type Announcement, readAnnouncement } from "../grasp/announcement.ts";
import { type MaintainerPolicy, newestByAuthor } from "../grasp/maintainers.ts";
import type { PublicKey } from "../nostr/event.ts";
import { formatReason } from "../nostr/reason.ts";
import { judgeStateAuthor } from "./state-policy.ts";

const [alice, bob, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("mallory")];
const by = (pubkey: PublicKey, ...listed: PublicKey[]) =>
  readAnnouncement(
    fakeEvent({
      kind: 30_617,
      pubkey,
      tags: [
        ["d", "hold"],
        ["maintainers", ...listed],
      ],
    }),
  ) as Announcement;
const NO_ANNOUNCEMENT = "invalid: no announcement exists for this repository";
const NOT_AUTHORIZED = "restricted: author not authorized for this repository";

test.each<[what: string, list: Announcement[], author: PublicKey, policy: MaintainerPolicy, answer: string]>([
  ["no announcement", [], alice, "reciprocal", NO_ANNOUNCEMENT],
  ["an owner", [by(alice)], alice, "reciprocal", "confirmed"],
  ["invited, not yet accepted", [by(alice, bob)], bob, "reciprocal", "invited"],
  ["invited and accepted", [by(alice, bob), by(bob, alice)], bob, "reciprocal", "confirmed"],
  ["a stranger", [by(alice, bob)], mallory, "reciprocal", NOT_AUTHORIZED],
  ["recursive wants no acceptance (4.6)", [by(alice, bob)], bob, "recursive", "confirmed"],
  ["recursive, a stranger", [by(alice, bob)], mallory, "recursive", NOT_AUTHORIZED],
  ["owner-only wants nobody else", [by(alice, bob)], bob, "owner-only", NOT_AUTHORIZED],
  ["owner-only, the owner", [by(alice, bob)], alice, "owner-only", "confirmed"],
])("grasp.md 4.5, 6.4: %s", (_, list, author, policy, answer) => {
  const verdict = judgeStateAuthor(author, newestByAuthor(list), policy);
  expect(verdict.kind === "refused" ? formatReason(verdict.reason) : verdict.kind).toBe(answer);
});
