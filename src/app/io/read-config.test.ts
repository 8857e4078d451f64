import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "./read-config.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-config-"));
  await writeFile(join(root, "one.toml"), "max-filters = 31\n");
  await writeFile(join(root, "two.toml"), "max-filters = 32\n");
  await writeFile(join(root, "latin1.toml"), Buffer.from([0x23, 0xe9]));
});
afterAll(() => rm(root, { recursive: true }));

test("the flag names the file before the variable does", async () => {
  const env = { HOLDFAST_CONFIG: join(root, "one.toml") };
  expect((await readConfig([], env)).result).toMatchObject({ kind: "ok", loaded: { config: { limits: { maxFilters: 31 } } } });
  expect((await readConfig(["--config", join(root, "two.toml")], env)).result).toMatchObject({
    loaded: { config: { limits: { maxFilters: 32 } } },
  });
});

test("a file that cannot be read is one problem among the others", async () => {
  const { result } = await readConfig([`--config=${join(root, "none.toml")}`], { HOLDFAST_MAX_FILTERS: "x" });
  expect(result).toMatchObject({
    kind: "bad",
    problems: [expect.stringContaining("cannot be read (ENOENT)"), expect.stringContaining("HOLDFAST_MAX_FILTERS")],
  });
});

test("a file that is not text says so", async () => {
  expect((await readConfig([`--config=${join(root, "latin1.toml")}`], {})).result).toMatchObject({
    problems: [expect.stringContaining("is not UTF-8 text")],
  });
});
