import { defineConfig } from "vitest/config";

/** Long proofs, one after the other: they measure, so nothing else may run beside them. */
export default defineConfig({
  test: {
    name: "proof",
    include: ["test/proof/**/*.proof.ts"],
    pool: "forks",
    execArgv: ["--import", new URL("./scripts/end-with-runner.mjs", import.meta.url).href],
    fileParallelism: false,
    testTimeout: 30 * 60_000,
    hookTimeout: 5 * 60_000,
    passWithNoTests: true,
  },
});
