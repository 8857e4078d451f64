import type { Rules } from "../../src/policy/rules.ts";

/** Rules of an operator who decided nothing: `git.example`, open to every event. Tests say only what they want otherwise. */
const PLAIN: Rules = {
  acceptance: "open",
  blockedAuthors: [],
  blockedRepositories: [],
  allowedRepositories: undefined,
  minPow: 0,
  places: [{ hostname: "git.example", port: undefined, basePath: "" }],
  eventBytesMax: 196_608,
  deletionTargetsMax: 2_048,
  unusedDeletionsMax: 100,
  ignoreDeletions: false,
  purgatory: false,
  maintainerPolicy: "reciprocal",
};

export const rulesWith = (changes: Partial<Rules>): Rules => ({ ...PLAIN, ...changes });
