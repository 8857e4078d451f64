import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { type Announcement, namesUs, readAnnouncement } from "./announcement.ts";
import { readIdentifier } from "./identifier.ts";
import { isOurRelay, type Place } from "./place.ts";

const alice = fakeKey("alice");
const npub = encodeNpub(alice);
const announcement = (...tags: string[][]) => readAnnouncement(fakeEvent({ kind: 30_617, tags }));

describe("reading (grasp.md 5.1)", () => {
  test("several tags of a name are merged; keys that are none are left out", () => {
    const bob = fakeKey("bob");
    expect(
      announcement(
        ["d", "hold"],
        ["clone", "a", "b"],
        ["clone", "c"],
        ["relays", "x"],
        ["relays"],
        ["relays", "y", "z"],
        ["maintainers", bob, "carol"],
      ),
    ).toMatchObject({ owner: alice, identifier: "hold", clone: ["a", "b", "c"], relays: ["x", "y", "z"], maintainers: [bob] });
    expect(announcement(["d", "hold"])).toMatchObject({ clone: [], relays: [], maintainers: [] });
  });

  test("its id, its time and the roles it gives come along", () => {
    const event = fakeEvent({
      kind: 30_617,
      created_at: 7,
      tags: [
        ["d", "hold"],
        ["M", alice],
      ],
    });
    expect(readAnnouncement(event)).toMatchObject({ id: event.id, createdAt: 7, roles: { leads: new Set([alice]), authorActive: true } });
  });

  test.each<[string, string[][]]>([
    ["no d", []],
    ["a d without a value", [["d"]]],
    ["a d without a value before one that has one: it is replaced under the empty name", [["d"], ["d", "hold"]]],
    [
      "two of them",
      [
        ["d", "a"],
        ["d", "b"],
      ],
    ],
    ["an empty one", [["d", ""]]],
    ["one that leads elsewhere", [["d", "../x"]]],
  ])("%s is refused with a sentence", (_, tags) => expect(announcement(...tags)).toBeTypeOf("string"));
});

const place = (more: Partial<Place> = {}): Place => ({ hostname: "git.example", port: undefined, basePath: "", ...more });

const named = (clone: string, relay: string, places: readonly Place[] = [place()], identifier = "hold"): boolean =>
  namesUs(
    readAnnouncement(
      fakeEvent({
        kind: 30_617,
        tags: [
          ["d", identifier],
          ["clone", clone],
          ["relays", relay],
        ],
      }),
    ) as Announcement,
    places,
  );

describe("names us (grasp.md 5.2): URLs are parsed, never compared as text", () => {
  const RELAY = "wss://git.example";

  test.each<[what: string, clone: string]>([
    ["plain", `https://git.example/${npub}/hold.git`],
    ["http", `http://git.example/${npub}/hold.git`],
    ["the default port, said", `https://git.example:443/${npub}/hold.git`],
    ["http's", `http://git.example:80/${npub}/hold.git`],
    ["upper-case host", `HTTPS://Git.EXAMPLE/${npub}/hold.git`],
    ["a slash at the end", `https://git.example/${npub}/hold.git/`],
    ["percent-encoding that was not needed", `https://git.example/${npub}/%68old%2Egit`],
    ["dots that lead back", `https://git.example/x/../${npub}/hold.git`],
    ["white space around it", ` https://git.example/${npub}/hold.git\n`],
  ])("clone: %s", (_, clone) => expect(named(clone, RELAY)).toBe(true));

  test.each<[what: string, clone: string]>([
    ["another port", `https://git.example:8443/${npub}/hold.git`],
    ["https' port on http", `http://git.example:443/${npub}/hold.git`],
    ["a longer host", `https://git.example.evil.example/${npub}/hold.git`],
    ["a shorter one", `https://it.example/${npub}/hold.git`],
    ["a host below ours", `https://x.git.example/${npub}/hold.git`],
    ["our host as a user", `https://git.example@evil.example/${npub}/hold.git`],
    ["a user at our host", `https://user@git.example/${npub}/hold.git`],
    ["a password", `https://user:pass@git.example/${npub}/hold.git`],
    ["our host in the path", `https://evil.example/git.example/${npub}/hold.git`],
    ["our host in the query", `https://evil.example/?https://git.example/${npub}/hold.git`],
    ["another owner", `https://git.example/${encodeNpub(fakeKey("bob"))}/hold.git`],
    ["hex instead of npub", `https://git.example/${alice}/hold.git`],
    ["another identifier", `https://git.example/${npub}/hold2.git`],
    ["another case", `https://git.example/${npub}/Hold.git`],
    ["no .git", `https://git.example/${npub}/hold`],
    ["something behind", `https://git.example/${npub}/hold.git/x`],
    ["a base path that is not ours", `https://git.example/base/${npub}/hold.git`],
    ["broken percent-encoding", `https://git.example/${npub}/hold.git%`],
    ["another scheme", `ssh://git.example/${npub}/hold.git`],
    ["a WebSocket", `wss://git.example/${npub}/hold.git`],
    ["no scheme", `git.example/${npub}/hold.git`],
    ["nothing", ""],
  ])("not: %s", (_, clone) => expect(named(clone, RELAY)).toBe(false));

  test.each<[relay: string, ours: boolean]>([
    ["wss://git.example", true],
    ["wss://git.example/", true],
    ["ws://git.example:80", true],
    ["WSS://GIT.example:443/", true],
    [" wss://git.example ", true],
    ["wss://git.example:4443", false],
    ["wss://git.example/nostr", false],
    ["wss://user@git.example", false],
    ["https://git.example", false],
    ["git.example", false],
    ["wss://git.example.evil.example", false],
    ["", false],
  ])("relay %j: %s", (relay, ours) => {
    expect(isOurRelay([place()], relay)).toBe(ours);
    expect(named(`https://git.example/${npub}/hold.git`, relay)).toBe(ours);
  });

  test("a port and a base path belong to the address", () => {
    const places = [place({ port: 7_000, basePath: "/g" })];
    expect(named(`http://git.example:7000/g/${npub}/hold.git`, "ws://git.example:7000/g", places)).toBe(true);
    expect(named(`http://git.example:7000/g/${npub}/hold.git`, "ws://git.example:7000/g/", places)).toBe(true);
    expect(named(`http://git.example:7000/${npub}/hold.git`, "ws://git.example:7000/g", places)).toBe(false);
    expect(named(`http://git.example:7000/gg/${npub}/hold.git`, "ws://git.example:7000/g", places)).toBe(false);
    expect(named(`http://git.example:7000/g/${npub}/hold.git`, "ws://git.example:7000", places)).toBe(false);
    expect(named(`http://git.example/g/${npub}/hold.git`, "ws://git.example:7000/g", places)).toBe(false);
  });

  test("former names count too, and the clone and the relay may use different ones", () => {
    const places = [place(), place({ hostname: "old.example" })];
    expect(named(`https://old.example/${npub}/hold.git`, "wss://git.example", places)).toBe(true);
    expect(named(`https://older.example/${npub}/hold.git`, "wss://git.example", places)).toBe(false);
  });

  test("every safe identifier can be named, and only by its own name", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }),
        (one, other) => {
          fc.pre(readIdentifier(one) !== undefined && readIdentifier(other) !== undefined);
          const url = (identifier: string) => `https://git.example/${npub}/${encodeURIComponent(identifier)}.git`;
          expect(named(url(one), RELAY, [place()], one)).toBe(true);
          expect(named(url(other), RELAY, [place()], one)).toBe(one === other);
        },
      ),
      runs(300),
    );
  });

  test("a foreign host is never us, whatever else is ours", () => {
    const foreign = fc.oneof(
      fc.domain(),
      fc.constantFrom("git.example.evil.example", "xgit.example", "git.example-", "git-example", "git.exampl", "127.0.0.1", "[::1]"),
      fc.domain().map((domain) => `git.example.${domain}`),
      fc.domain().map((domain) => `git.example@${domain}`),
      fc.domain().map((domain) => `git.example:443@${domain}`),
      fc.domain().map((domain) => `${domain}\\@git.example`),
      fc.domain().map((domain) => `${domain}/@git.example`),
      fc.domain().map((domain) => `${domain}#git.example`),
      fc.domain().map((domain) => `${domain}?git.example`),
    );
    const port = fc.constantFrom("", ":80", ":443", ":8080");
    fc.assert(
      fc.property(foreign, port, fc.constantFrom("http", "https"), (host, at, scheme) => {
        const authority = host
          .split(/[\\/#?]/)[0]
          ?.split("@")
          .at(-1);
        fc.pre(authority !== "git.example");
        expect(named(`${scheme}://${host}${at}/${npub}/hold.git`, RELAY)).toBe(false);
        expect(isOurRelay([place()], `${scheme === "http" ? "ws" : "wss"}://${host}${at}/`)).toBe(false);
      }),
      runs(500),
    );
  });
});
