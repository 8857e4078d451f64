import { describe, expect, test } from "vitest";
import { blockedAuthor, formatReason, PURGATORY_TEXT, parseReason, prWithoutTip, REASONS, reason } from "./reason.ts";

describe("grasp.md 3.7: the words that others look for", () => {
  test.each([
    [REASONS.alreadyHave, "duplicate: already have this event"],
    [REASONS.superseded, "duplicate: superseded by a newer event"],
    [REASONS.inPurgatory, "duplicate: in purgatory"],
    [REASONS.noAnnouncement, "invalid: no announcement exists for this repository"],
    [REASONS.notAuthorized, "restricted: author not authorized for this repository"],
    [REASONS.expiredFromPurgatory, "invalid: previously expired from purgatory without git data"],
    [REASONS.deleted, "invalid: this event is deleted"],
    [REASONS.vanished, "invalid: this pubkey has requested to vanish"],
    [REASONS.tooManyDeletionTargets, "invalid: too many deletion targets"],
    [REASONS.orphan, "restricted: Event must reference an accepted repository or accepted event"],
    [REASONS.protectedEvent, "auth-required: this event may only be published by its author"],
    [blockedAuthor("npub1x"), "blocked: Event author npub1x is blacklisted"],
    [prWithoutTip("ab"), "invalid: PR event ab has no 'c' tag"],
  ])("%o", (given, text) => {
    expect(formatReason(given)).toBe(text);
  });

  test("held: no prefix of NIP-01", () => {
    expect(PURGATORY_TEXT).toBe("purgatory: won't be served until git data arrives");
    expect(parseReason(PURGATORY_TEXT)).toBeUndefined();
  });
});

test("grasp.md 3.2: every reason of the table is read back as it was written", () => {
  for (const given of Object.values(REASONS)) expect(parseReason(formatReason(given))).toEqual(given);
});

test.each([
  ["rate-limited:slow down", reason("rate-limited", "slow down")],
  ["error: a: b", reason("error", "a: b")],
  ["closed:", reason("closed", "")],
  ["", undefined],
  ["no colon", undefined],
  ["Error: x", undefined],
  ["toString: x", undefined],
])("NIP-01: what another relay says: %s", (text, expected) => {
  expect(parseReason(text)).toEqual(expected);
});
