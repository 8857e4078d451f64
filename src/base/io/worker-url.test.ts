import { expect, test } from "vitest";
import { workerUrl } from "./worker-url.ts";

test.each([
  ["file:///srv/src/intake/io/pool.ts", "verify-worker", "file:///srv/src/intake/io/verify-worker.ts"],
  ["file:///srv/dist/intake/io/pool.js", "verify-worker", "file:///srv/dist/intake/io/verify-worker.js"],
  ["file:///srv/src/intake/io/pool.ts?t=1", "verify-worker", "file:///srv/src/intake/io/verify-worker.ts"],
  ["file:///a%20b/x.ts.d/pool.js", "w", "file:///a%20b/x.ts.d/w.js"],
])("beside %s the worker %s is %s", (base, name, expected) => {
  expect(workerUrl(base, name).href).toBe(expected);
});

test("the file is really there while developing", async () => {
  const { workerUrl: same } = (await import(workerUrl(import.meta.url, "worker-url").href)) as { workerUrl: typeof workerUrl };
  expect(same("file:///a/b.ts", "c").href).toBe("file:///a/c.ts");
});
