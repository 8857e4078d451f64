import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDurableDirectory } from "./durable-directory.ts";

test("a directory is made with all that leads to it, and making it again does nothing", () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-directory-"));
  try {
    const path = join(root, "a", "b", "c");
    makeDurableDirectory(path);
    expect(statSync(path).isDirectory()).toBe(true);
    makeDurableDirectory(path);
    makeDurableDirectory(join(root, "a"));
  } finally {
    rmSync(root, { recursive: true });
  }
});
