import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { schnorr } from "@noble/curves/secp256k1.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeNsec, secretKey } from "../../nostr/npub.ts";
import { type KeyResult, loadServerKey } from "./server-key.ts";

const bytesOf = (n: number): Uint8Array => new Uint8Array(32).fill(n);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const publicOf = (n: number): string => hexOf(schnorr.getPublicKey(bytesOf(n)));
const nsec = (n: number): string => {
  const secret = secretKey(bytesOf(n));
  if (secret === undefined) throw new Error("not a key");
  return encodeNsec(secret);
};
const keyOf = (result: KeyResult): string => (result.kind === "ok" ? result.key.publicKey : result.problem);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-key-"));
});
afterEach(() => rm(root, { recursive: true }));

const load = (env: Record<string, string | undefined>, persist = true, n = 9): Promise<KeyResult> =>
  loadServerKey({ env, relayDataPath: join(root, "relay"), persist, randomBytes: () => bytesOf(n) });

async function credentials(text: string): Promise<Record<string, string>> {
  await mkdir(join(root, "credentials"));
  await writeFile(join(root, "credentials", "relay_owner_nsec"), text);
  return { CREDENTIALS_DIRECTORY: join(root, "credentials") };
}

describe("the server's key (grasp.md 2.5)", () => {
  test("the credential wins over the environment, the environment over the file", async () => {
    expect(keyOf(await load({}))).toBe(publicOf(9));
    const variables = { HOLDFAST_NSEC: nsec(1), NGIT_RELAY_OWNER_NSEC: hexOf(bytesOf(2)) };
    expect(keyOf(await load({ ...variables }))).toBe(publicOf(1));
    expect(keyOf(await load({ NGIT_RELAY_OWNER_NSEC: ` ${hexOf(bytesOf(2))}\n` }))).toBe(publicOf(2));
    expect(keyOf(await load({ ...variables, ...(await credentials(`${nsec(3)}\n`)) }))).toBe(publicOf(3));
  });

  test("a credentials directory without ours changes nothing", async () => {
    expect(keyOf(await load({ CREDENTIALS_DIRECTORY: root, HOLDFAST_NSEC: nsec(1) }))).toBe(publicOf(1));
  });

  test("the first start makes the file, closed to others; the next reads it", async () => {
    await load({});
    const path = join(root, "relay", ".relay-owner.nsec");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).toBe(`${nsec(9)}\n`);
    expect(await readdir(join(root, "relay"))).toEqual([".relay-owner.nsec"]);
    expect(keyOf(await load({}, true, 5))).toBe(publicOf(9));
  });

  test("two first starts at once agree on one key", async () => {
    const [a, b] = await Promise.all([load({}, true, 5), load({}, true, 6)]);
    expect(keyOf(a)).toBe(keyOf(b));
  });

  test("a file that others may read is closed to them, and said so", async () => {
    await load({});
    const path = join(root, "relay", ".relay-owner.nsec");
    await chmod(path, 0o644);
    expect(await load({})).toMatchObject({ kind: "ok", warnings: [expect.stringContaining("readable for others")] });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("a store that forgets has a key without a file", async () => {
    expect(keyOf(await load({}, false))).toBe(publicOf(9));
    expect(await readdir(root)).toEqual([]);
  });

  test.each(["", "nsec1broken", "0".repeat(64), "f".repeat(64), nsec(1).slice(0, -1)])("configured but broken stops: %j", async (text) => {
    for (const result of [await load({ HOLDFAST_NSEC: text }), await load(await credentials(text))]) {
      expect(result).toMatchObject({ kind: "bad", problem: expect.stringContaining("is not an nsec") });
      if (text !== "") expect(keyOf(result)).not.toContain(text);
    }
  });

  test("a broken file stops and is not replaced", async () => {
    await mkdir(join(root, "relay"));
    await writeFile(join(root, "relay", ".relay-owner.nsec"), "half");
    expect(await load({})).toMatchObject({ kind: "bad" });
    expect(await readFile(join(root, "relay", ".relay-owner.nsec"), "utf8")).toBe("half");
  });

  test("a place that cannot be written is a sentence", async () => {
    await writeFile(join(root, "relay"), "a file, not a directory");
    expect(keyOf(await load({}))).toMatch(/cannot be (read|written)/);
  });

  test("a broken source of random bytes is not trusted", async () => {
    await expect(load({}, false, 0)).rejects.toThrow("no valid key");
  });

  test("secrets leave the environment and are never printed", async () => {
    const env: Record<string, string | undefined> = { HOLDFAST_NSEC: nsec(1), NGIT_RELAY_OWNER_NSEC: nsec(2) };
    const result = await load(env);
    expect(env).toEqual({});
    const printed = inspect(result, { depth: 9, showHidden: true }) + JSON.stringify(result);
    expect(printed).toContain(publicOf(1));
    for (const secret of [nsec(1), hexOf(bytesOf(1)), "Uint8Array"]) expect(printed).not.toContain(secret);
  });

  test("it signs", async () => {
    const result = await load({ HOLDFAST_NSEC: nsec(1) });
    if (result.kind === "bad") throw new Error(result.problem);
    const hash = bytesOf(4);
    expect(schnorr.verify(result.key.sign(hash), hash, schnorr.getPublicKey(bytesOf(1)))).toBe(true);
  });
});
