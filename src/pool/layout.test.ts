import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Oid } from "../git/oid.ts";
import { type Identifier, readIdentifier } from "../grasp/identifier.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import {
  alternatesOf,
  type DataPath,
  huntPath,
  type OpaqueId,
  type PoolId,
  poolPath,
  quarantinePath,
  readOpaqueId,
  readPoolId,
  readRepositoryKey,
  relativePath,
  repositoryKey,
  repositoryPath,
  stagedTipPath,
  stagingPath,
} from "./layout.ts";

const owner = "ab".repeat(32) as PublicKey;
const other = "cd".repeat(32) as PublicKey;
const named = (identifier: string, by = owner) => ({ owner: by, identifier: identifier as Identifier });
const pool = "0123456789abcdef0123456789abcdef" as PoolId;
const opaque = readOpaqueId(pool) as OpaqueId;

describe("where things lie (grasp.md 7.1)", () => {
  const key = repositoryKey(named("x"));

  test.each([
    [repositoryPath(key), `repositories/${key.slice(0, 2)}/${key.slice(2)}.git`],
    [poolPath(pool), "pools/01/23456789abcdef0123456789abcdef.git"],
    [huntPath(opaque), "hunts/01/23456789abcdef0123456789abcdef.git"],
    [quarantinePath(opaque), "quarantine/0123456789abcdef0123456789abcdef"],
    [stagingPath(key), `staging/${key.slice(0, 2)}/${key.slice(2)}`],
    [
      stagedTipPath(key, "e".repeat(64) as EventId, "1".repeat(40) as Oid),
      `staging/${key.slice(0, 2)}/${key.slice(2)}/${"e".repeat(64)}-${"1".repeat(40)}.git`,
    ],
  ])("%s", (path, expected) => expect(path).toBe(expected));

  test("the key of a repository never changes between releases: no migration follows", () => {
    expect(key).toBe("0fcb0334fe8344c3fb9d6950794befe66fc116314a608e89e9d9ce66f70a514e");
  });

  test("another owner, identifier or realm is another repository", () => {
    const keys = [
      repositoryKey(named("x")),
      repositoryKey(named("X")),
      repositoryKey(named("x", other)),
      repositoryKey(named("x"), "contributed"),
      repositoryKey(named("é")),
      repositoryKey(named("e\u0301")),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    for (const each of keys) expect(readRepositoryKey(each)).toBe(each);
  });

  test.each(["", "0123", "../../../../etc/passwd", "0".repeat(31), "A".repeat(32), `${"0".repeat(32)}\n`, `${"0".repeat(30)}/.`])(
    "%j is no opaque id",
    (text) => {
      expect(readOpaqueId(text)).toBeUndefined();
      expect(readPoolId(text)).toBeUndefined();
      expect(readRepositoryKey(text)).toBeUndefined();
    },
  );

  test("whatever the identifier, the path is made of hex alone", () => {
    const identifier = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => readIdentifier(text) !== undefined);
    fc.assert(
      fc.property(identifier, (text) => {
        expect(repositoryPath(repositoryKey(named(text)))).toMatch(/^repositories\/[0-9a-f]{2}\/[0-9a-f]{62}\.git$/);
      }),
      { seed: 71, numRuns: 300 },
    );
  });
});

describe("relative lines (grasp.md 7.13)", () => {
  test("from a repository to its pools, the first first", () => {
    const second = "f".repeat(32) as PoolId;
    expect(alternatesOf(repositoryPath(repositoryKey(named("x"))), [pool, second])).toEqual([
      "../../../../pools/01/23456789abcdef0123456789abcdef.git/objects",
      `../../../../pools/ff/${"f".repeat(30)}.git/objects`,
    ]);
  });

  test("a relative path leads where it says", () => {
    const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/") as DataPath);
    fc.assert(
      fc.property(path, path, (from, to) => {
        const reached = new URL(relativePath(from, to), `file:///data/${from}/`).pathname;
        expect(reached).toBe(`/data/${to}`);
      }),
      { seed: 713, numRuns: 500 },
    );
  });
});
