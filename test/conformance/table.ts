import { type Deferred, isBinding, type Proof, type Requirement } from "./requirements.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|");

function evidence(row: Requirement, later: readonly Deferred[], proofs: readonly Proof[]): string {
  const files = [...new Set(proofs.filter((proof) => proof.id === row.id).map((proof) => proof.file))];
  if (files.length > 0) return files.map((file) => `[${file.replace("test/conformance/", "")}](../${file})`).join(", ");
  const deferred = later.find((entry) => entry.id === row.id);
  if (deferred !== undefined) return `later: ${cell(deferred.reason)} ([record](${deferred.decision.replace(/^docs\//, "")}))`;
  return isBinding(row.level) ? "**none**" : "binds no relay";
}

/** docs/CONFORMANCE.md: requirement → tests, one table per document. */
export function renderTable(requirements: readonly Requirement[], later: readonly Deferred[], proofs: readonly Proof[]): string {
  const proven = new Set(proofs.map((proof) => proof.id));
  const binding = requirements.filter((row) => isBinding(row.level));
  const lines = [
    "# Conformance",
    "",
    "Generated from `test/conformance/` by `UPDATE_DOCS=1 vitest run test/conformance/table.test.ts`; do not edit.",
    "",
    "The suite speaks to a relay over a socket and was written from the specifications. Point it at any relay with `HOLDFAST_TEST_URL=ws://host:port`;",
    "what that relay does not list in `supported_nips` is skipped with the reason, and `HOLDFAST_TEST_EXPECT=all` makes skips failures.",
    "",
    "An id names a document and its line (`NIP-01:L164-…`) or clause (`GRASP:3.2/…`). MUST and SHOULD are the document's words, CLAUSE binds without such a word, CLIENT and NOTE bind no relay.",
    "",
    `${binding.length} requirements bind the relay: ${binding.filter((row) => proven.has(row.id)).length} have tests, ${later.length} come with later parts.`,
  ];
  const documents = [...new Set(requirements.map((row) => row.id.split(":")[0] ?? ""))];
  for (const document of documents) {
    lines.push("", `## ${document}`, "", "| Requirement | Level | In short | Proof |", "|---|---|---|---|");
    for (const row of requirements.filter((candidate) => candidate.id.startsWith(`${document}:`))) {
      lines.push(`| \`${row.id.slice(document.length + 1)}\` | ${row.level} | ${cell(row.text)} | ${evidence(row, later, proofs)} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}
