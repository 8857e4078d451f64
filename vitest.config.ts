import { defineConfig } from "vitest/config";

const shared = {
  // Real git and real sockets on a busy machine; a test that needs longer says so itself.
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Processes, not threads: native modules, signals and working directories stay apart from the runner.
  pool: "forks",
  execArgv: ["--import", new URL("./scripts/end-with-runner.mjs", import.meta.url).href],
  restoreMocks: true,
  unstubEnvs: true,
} as const;

export default defineConfig({
  test: {
    projects: [
      // Beside the sources nothing global is touched, so files share a process; starting one per file costs more than the tests.
      { test: { ...shared, name: "unit", include: ["src/**/*.test.ts"], isolate: false } },
      {
        test: {
          ...shared,
          name: "whole",
          include: ["test/**/*.test.ts", "scripts/**/*.test.mjs"],
          exclude: ["test/proof/**", "test/bench/**", "**/node_modules/**"],
        },
      },
    ],
  },
});
