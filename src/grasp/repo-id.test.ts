import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { type Identifier, readIdentifier } from "./identifier.ts";
import { readRepoCoordinate, readRepoPath, repoCoordinate, repoPath, sameRepo } from "./repo-id.ts";

const alice = fakeKey("alice");
const npub = encodeNpub(alice);
const repo = (identifier: string) => ({ owner: alice, identifier: identifier as Identifier });

describe("grasp.md 7.1: paths", () => {
  test.each<[path: string, identifier: string, rest: string]>([
    [`/${npub}/hold.git`, "hold", ""],
    [`/${npub}/hold.git/`, "hold", "/"],
    [`/${npub}/hold.git/info/refs`, "hold", "/info/refs"],
    [`/${npub}/hold.git/git-receive-pack`, "hold", "/git-receive-pack"],
    [`/${npub}/hold.git/tree/a%2Fb//c`, "hold", "/tree/a%2Fb//c"],
    [`/${npub}/my%20repo.git`, "my repo", ""],
    [`/${npub}/%68old%2Egit`, "hold", ""],
    [`/${npub}/hold%2egit/info/refs`, "hold", "/info/refs"],
    [`/${npub}/x.git.git`, "x.git", ""],
    [`/${npub}/.git.git`, ".git", ""],
    [`/${npub}/a:b@c+d.git`, "a:b@c+d", ""],
    [`/${npub}/%252F.git`, "%2F", ""],
    [`/${npub}/%252e%252e.git`, "%2e%2e", ""],
    [`/${npub}/%F0%9F%90%A6.git`, "🐦", ""],
    [`/${npub}/....git`, "...", ""],
  ])("%s", (path, identifier, rest) => expect(readRepoPath(path)).toEqual({ repo: repo(identifier), rest }));

  const changed = npub.slice(0, -1) + (npub.endsWith("q") ? "p" : "q");
  test.each<[what: string, path: string]>([
    ["no .git", `/${npub}/hold`],
    ["no name before it", `/${npub}/.git`],
    ["another case", `/${npub}/hold.GIT`],
    ["an encoded slash", `/${npub}/a%2Fb.git`],
    ["an encoded slash, small", `/${npub}/a%2fb.git`],
    ["a slash", `/${npub}/a/b.git`],
    ["a backslash", `/${npub}/a%5Cb.git`],
    ["NUL", `/${npub}/a%00.git`],
    ["a line end", `/${npub}/a%0A.git`],
    ["the directory itself", `/${npub}/..git`],
    ["the directory above", `/${npub}/...git`],
    ["the directory above, encoded", `/${npub}/%2e%2e.git`],
    ["steps out", `/${npub}/../hold.git`],
    ["broken percent-encoding", `/${npub}/hold%.git`],
    ["not UTF-8", `/${npub}/%FF.git`],
    ["overlong UTF-8 for a slash", `/${npub}/%C0%AF.git`],
    ["an encoded surrogate", `/${npub}/%ED%A0%80.git`],
    ["too long", `/${npub}/${"x".repeat(101)}.git`],
    ["too long once encoded", `/${npub}/${encodeURIComponent("水".repeat(34))}.git`],
    ["hex instead of npub", `/${alice}/hold.git`],
    ["a wrong checksum", `/${changed}/hold.git`],
    ["upper case", `/${npub.toUpperCase()}/hold.git`],
    ["an encoded npub", `/%6E${npub.slice(1)}/hold.git`],
    ["too short", `/${npub.slice(0, -1)}/hold.git`],
    ["something before", `/x/${npub}/hold.git`],
    ["no slash before", `${npub}/hold.git`],
    ["two slashes before", `//${npub}/hold.git`],
    ["two slashes between", `/${npub}//hold.git`],
    ["nothing", ""],
    ["the root", "/"],
    ["only an owner", `/${npub}`],
  ])("not: %s", (_, path) => expect(readRepoPath(path)).toBeUndefined());
});

test.each(["", "30617", `30618:${alice}:hold`, `30617:${alice}:`, `30617:${alice}:..`, `30617:${alice}:a/b`, `30617:${npub}:hold`])(
  "grasp.md §1: %j names no repository",
  (text) => expect(readRepoCoordinate(text)).toBeUndefined(),
);

test("the identifier is everything after the second colon (grasp.md §1)", () =>
  expect(readRepoCoordinate(`30617:${alice}:a:b:c`)).toEqual(repo("a:b:c")));

test("every repository comes back from its path and its coordinate, and from no other's", () => {
  const identifier = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
  const owner = fc.constantFrom(alice, fakeKey("bob"));
  fc.assert(
    fc.property(identifier, identifier, owner, owner, (a, b, x, y) => {
      const [one, other] = [readIdentifier(a), readIdentifier(b)];
      fc.pre(one !== undefined && other !== undefined);
      const [first, second] = [
        { owner: x, identifier: one },
        { owner: y, identifier: other },
      ];
      for (const rest of ["", "/", "/info/refs"]) expect(readRepoPath(repoPath(first) + rest)).toEqual({ repo: first, rest });
      expect(new URL(`https://host.example${repoPath(first)}/x`).pathname).toBe(`${repoPath(first)}/x`);
      expect(readRepoCoordinate(repoCoordinate(first))).toEqual(first);
      const isSame = sameRepo(first, second);
      expect(repoPath(first) === repoPath(second)).toBe(isSame);
      expect(repoCoordinate(first) === repoCoordinate(second)).toBe(isSame);
    }),
    runs(500),
  );
});

test("whatever is read from a path is a safe name", () => {
  const piece = fc.constantFrom("%2F", "%2f", "%2e", ".", "..", "/", "\\", "%5c", "%00", "%", "%25", "a", ".git", "%c0%af", "水", "\n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const found = readRepoPath(`/${npub}/${pieces.join("")}`);
      if (found !== undefined) expect(readIdentifier(found.repo.identifier)).toBe(found.repo.identifier);
    }),
    runs(2_000),
  );
});
