// What `npm run <name>` does: a name, and its steps in order. A command's arguments are strings; tools come from node_modules/.bin.

const format = { title: "format", command: ["biome", "check", "--error-on-warnings", "."] };
const lint = { title: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] };
const types = { title: "types", command: ["tsc", "-p", "tsconfig.json"] };
const boundaries = { title: "boundaries", command: ["node", "scripts/boundaries.mjs"] };
const build = { title: "build", command: ["node", "scripts/build.mjs"] };
const vitest = { title: "tests", vitest: ["run"] };

/** `args` says which step takes what stands after `--`; `only` skips the others when something does. */
export const jobs = {
  test: { steps: [format, lint, types, boundaries, build, { ...vitest, args: true, only: true }], summary: true },
  check: { steps: [format, lint, types, boundaries], summary: true },
  build: { steps: [build] },
  format: { steps: [{ title: "format", command: ["biome", "check", "--write"], args: true, otherwise: ["."] }] },
  proof: { steps: [build, { title: "proof", vitest: ["run", "--config", "vitest.proof.config.ts"], args: true }], summary: true },
  "bench:relay": { steps: [{ title: "bench:relay", command: ["node", "test/bench/relay.ts"], args: true }] },
};

/** Proofs and measurements that take too long for every change; printed at the end of `npm test`. */
export const longer = [
  ["npm run proof", "crashes, faults and long histories; writes its figures to docs/RELIABILITY.md"],
  ["npm run bench:relay", "how many events and subscriptions the relay carries"],
];
