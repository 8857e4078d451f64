import type { Oid } from "./oid.ts";
import type { RefName } from "./ref-name.ts";

/** One ref from a value to a value; `undefined` is "none". What a push asks for, and what a plan carries out. */
export interface RefUpdate {
  readonly ref: RefName;
  readonly from: Oid | undefined;
  readonly to: Oid | undefined;
}

/** `nothing` is zero → zero: git would execute it as an unconditional delete, so it never reaches git (grasp.md 7.6). */
export type UpdateKind = "create" | "move" | "delete" | "same" | "nothing";

export function updateKind(update: RefUpdate): UpdateKind {
  if (update.from === undefined) return update.to === undefined ? "nothing" : "create";
  if (update.to === undefined) return "delete";
  return update.from === update.to ? "same" : "move";
}

/** A client sends a pack unless it only deletes. */
export const carriesPack = (updates: readonly RefUpdate[]): boolean => updates.some((update) => update.to !== undefined);

/** The refs after these updates; the given map stays as it is. What a ref had before is not compared: that was done under the lock. */
export function withUpdates(refs: ReadonlyMap<RefName, Oid>, updates: readonly RefUpdate[]): ReadonlyMap<RefName, Oid> {
  const after = new Map(refs);
  for (const { ref, to } of updates) {
    if (to === undefined) after.delete(ref);
    else after.set(ref, to);
  }
  return after;
}
