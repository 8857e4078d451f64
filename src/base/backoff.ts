import { invariant } from "./assert.ts";

export interface BackoffRule {
  readonly baseMs: number;
  readonly maxMs: number;
  /** 0: none; 0.25: up to a quarter shorter. Always shorter, so `maxMs` holds and waits at the cap spread too. */
  readonly spread: number;
}

/** How long to wait before trying again; attempt 0 waits `baseMs`, each later one twice as long. */
export function backoff(rule: BackoffRule, attempt: number, key: string): number {
  invariant(attempt >= 0, "attempts are counted from 0");
  const full = Math.min(rule.maxMs, rule.baseMs * 2 ** attempt);
  return Math.round(full * (1 - rule.spread * fractionOf(`${key} ${attempt}`)));
}

/** A number in [0, 1) that looks like chance and is the same for the same key: load spreads and every run replays. */
export function fractionOf(key: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  // FNV leaves the last characters in the low bits; mixing carries them to the high ones, so "a 1" and "a 2" lie apart.
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}
