import { readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(new URL("../../docs/RELIABILITY.md", import.meta.url));

export type Figure = readonly [what: string, value: string | number];

/** Puts the figures of one proof between its marks in docs/RELIABILITY.md, and leaves the rest of the page as it is. */
export function writeFigures(proof: string, figures: readonly Figure[]): void {
  const [begin, end] = [`<!-- figures of ${proof} -->`, `<!-- end of ${proof} -->`];
  const page = readFileSync(FILE, "utf8");
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/RELIABILITY.md has no place for the figures of ${proof}`);
  const rows = [...machine(), ...figures].map(
    ([what, value]) => `| ${what} | ${typeof value === "number" ? value.toLocaleString("en") : value} |`,
  );
  const table = ["", "", "| | |", "|---|---|", ...rows, "", ""].join("\n");
  writeFileSync(FILE, page.slice(0, from + begin.length) + table + page.slice(to));
}

function machine(): Figure[] {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return [
    ["date", new Date().toISOString().slice(0, 10)],
    [
      "machine",
      `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${memory}, ${platform()} ${release().replace(/-.*/, "")} ${arch()}`,
    ],
    ["Node", process.version],
  ];
}

export const minutes = (sinceMs: number): string => `${((performance.now() - sinceMs) / 60_000).toFixed(1)} min`;
