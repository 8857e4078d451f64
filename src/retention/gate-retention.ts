import { type Instant, plus } from "../base/time.ts";

/** How long deletion and vanish requests are remembered, in milliseconds (grasp.md 11.2). */
export interface Retentions {
  /** A request that never did anything: served this long after we saw it … */
  readonly unusedServedMs: number;
  /** … and then, unserved, still a gate for this long. */
  readonly unusedGateMs: number;
  /** One that removed or refused something: served this long after its last use … */
  readonly usedServedMs: number;
  /** … and a gate for this long after that. */
  readonly usedGateMs: number;
}

export interface Remembered {
  readonly seenAt: Instant;
  readonly lastUsedAt: Instant | undefined;
}

/** `served`: the request is shown and refuses. `gate`: it only refuses. `gone`: it is forgotten. */
export type GateStage = "served" | "gate" | "gone";

export function stageOf(gate: Remembered, now: Instant, retentions: Retentions): GateStage {
  const used = gate.lastUsedAt !== undefined;
  const from = gate.lastUsedAt ?? gate.seenAt;
  const unserved = plus(from, used ? retentions.usedServedMs : retentions.unusedServedMs);
  if (now < unserved) return "served";
  return now < plus(unserved, used ? retentions.usedGateMs : retentions.unusedGateMs) ? "gate" : "gone";
}
