import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReader, openWriter } from "../../src/store/io/sqlite-store.ts";
import type { OpenStore } from "./store/bench.ts";
import { runStoreContract } from "./store-contract.ts";

let seeds = 1;

async function open(directory = mkdtempSync(join(tmpdir(), "holdfast-store-"))): Promise<OpenStore> {
  const writing = openWriter(directory, () => seeds++ * 7_919);
  const reading = openReader(directory);
  const closeFiles = async () => {
    reading.close();
    await writing.close();
  };
  return {
    reader: reading.reader,
    writer: writing.writer,
    feed: reading.feed,
    held: reading.held,
    close: async () => {
      await closeFiles();
      rmSync(directory, { recursive: true });
    },
    reopen: async () => {
      await closeFiles();
      return open(directory);
    },
  };
}

runStoreContract("disk", () => open());
