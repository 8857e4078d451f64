import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { CHECKPOINT_PAGES, openForCheckpoints } from "./sqlite-file.ts";

/** A thread that copies the log back into the store while the writer goes on writing. */
export interface CheckpointWorkerData {
  readonly directory: string;
}

export interface CheckpointDone {
  /** Pages in the log, and how many of them stand in the store by now. */
  readonly log: number;
  readonly copied: number;
}

/** When so few pages are left to copy, the writer copies them itself, and the log can begin anew. */
const NEARLY_DONE_PAGES = 2_000;

const { directory } = workerData as CheckpointWorkerData;
const db = openForCheckpoints(directory);
const port = parentPort as MessagePort;

/** Each round copies what was written during the one before: fewer and fewer, unless the disk cannot keep up; then the writer will have to wait for it. */
const ROUNDS_MAX = 4;

function checkpoint(mode: "NOOP" | "PASSIVE"): CheckpointDone {
  const [row] = db.pragma(`wal_checkpoint(${mode})`) as [{ log: number; checkpointed: number }];
  return { log: row.log, copied: row.checkpointed };
}

port.on("message", () => {
  let state = checkpoint("NOOP");
  if (state.log - state.copied >= CHECKPOINT_PAGES) {
    for (let round = 0; round < ROUNDS_MAX && state.log - state.copied > NEARLY_DONE_PAGES; round++) state = checkpoint("PASSIVE");
  }
  port.postMessage(state);
});
