import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { actor, toHex } from "../../kit/keys.ts";
import { StartFailed, startOwn } from "../../kit/server-under-test.ts";
import { conformance, fetchInfo } from "../suite.ts";

const { proves } = conformance({ own: true });

const keeper = actor("keeper of the relay");

/** Every file below a directory, with its text. */
async function filesBelow(dir: string): Promise<readonly { readonly path: string; readonly text: string; readonly mode: number }[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (path) => ({ path, text: await readFile(path, "latin1"), mode: (await stat(path)).mode & 0o777 })));
}

proves("GRASP:2.5/own-key GRASP:2.5/secret", "a first start makes one key file for its owner only, and says nothing of it", async (t) => {
  const holding = (await filesBelow(t.server.dataDir ?? "")).filter(({ text }) => text.includes("nsec1"));
  expect(holding).toHaveLength(1);
  expect(holding[0]?.mode.toString(8)).toBe("600");
  expect(t.server.log()).not.toContain("nsec1");
  const argv = await readFile(`/proc/${t.server.pid}/cmdline`, "latin1");
  expect(argv).not.toContain("nsec1");
});

proves("GRASP:2.5/stable", "a restart keeps the key", async () => {
  const first = await startOwn();
  const before = await fetchInfo(first.httpUrl);
  await first.stop({ keepData: true });
  const second = await startOwn({ dataDir: first.dataDir ?? "" });
  try {
    expect(before["pubkey"]).toMatch(/^[0-9a-f]{64}$/);
    expect((await fetchInfo(second.httpUrl))["pubkey"]).toBe(before["pubkey"]);
  } finally {
    await second.stop();
  }
});

proves("GRASP:2.5/configured GRASP:2.5/secret", "a configured secret is used and shown nowhere", async () => {
  const secret = toHex(keeper.secret);
  const server = await startOwn({ env: { NGIT_RELAY_OWNER_NSEC: secret } });
  try {
    expect((await fetchInfo(server.httpUrl))["pubkey"]).toBe(keeper.pubkey);
    expect(server.log()).not.toContain(secret);
    expect(await readFile(`/proc/${server.pid}/cmdline`, "latin1")).not.toContain(secret);
  } finally {
    await server.stop();
  }
});

proves("GRASP:2.5/credential", "a systemd credential gives the key", async () => {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-credential-"));
  await writeFile(join(dir, "relay_owner_nsec"), `${toHex(keeper.secret)}\n`, { mode: 0o600 });
  const server = await startOwn({ env: { CREDENTIALS_DIRECTORY: dir } });
  try {
    expect((await fetchInfo(server.httpUrl))["pubkey"]).toBe(keeper.pubkey);
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
});

proves("GRASP:2.5/broken GRASP:2.5/secret", "a broken secret stops the start, with a sentence that does not repeat it", async () => {
  for (const broken of ["nsec1qqqqqqqqqqqqqqqqqqqqqqqqqqqq", `${"0".repeat(64)}`, "f".repeat(64), `${toHex(keeper.secret)}ff`]) {
    const failure = await startOwn({ env: { NGIT_RELAY_OWNER_NSEC: broken } }).catch((error: unknown) => error);
    expect(failure, broken).toBeInstanceOf(StartFailed);
    expect((failure as StartFailed).exitCode).not.toBe(0);
    expect((failure as StartFailed).output).not.toContain(broken);
  }
});
