import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Makes a directory with all that leads to it. A new entry is durable only when the directory that names it is, so each of those is synced. */
export function makeDurableDirectory(directory: string): void {
  const path = resolve(directory);
  const firstMade = mkdirSync(path, { recursive: true });
  if (firstMade === undefined) return;
  const last = dirname(resolve(firstMade));
  for (let made = path; ; made = dirname(made)) {
    syncPath(made);
    if (made === last) return;
  }
}

/** Waits until what is written to this file or directory is on disk. */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
