// Writes docs/CONFIGURATION.md from the table of settings. With --check it only says whether the page is up to date.
import { readFile, writeFile } from "node:fs/promises";
import { settingsManual } from "../src/app/settings/manual.ts";

const page = new URL("../docs/CONFIGURATION.md", import.meta.url);
const wanted = settingsManual();

if (process.argv.includes("--check")) {
  const present = await readFile(page, "utf8").catch(() => "");
  if (present !== wanted) {
    console.error("docs/CONFIGURATION.md is stale: run node scripts/settings-doc.mjs");
    process.exitCode = 1;
  }
} else {
  await writeFile(page, wanted);
}
