import type { Brand } from "./brand.ts";

/** Milliseconds on our own clock: deadlines, delays, "now". Never an event's `created_at`. */
export type Instant = Brand<number, "Instant">;

/** Whole seconds since 1970, as events carry them (`created_at`, `expiration`). */
export type UnixSeconds = Brand<number, "UnixSeconds">;

export const instant = (ms: number): Instant => ms as Instant;
export const unixSeconds = (s: number): UnixSeconds => s as UnixSeconds;

export const plus = (t: Instant, ms: number): Instant => (t + ms) as Instant;
export const until = (from: Instant, to: Instant): number => to - from;
export const earlier = (a: Instant, b: Instant): Instant => (a < b ? a : b);

/** The wall-clock second in which an instant lies. Instants are wall-clock milliseconds, so this is the one bridge between the two. */
export const toUnixSeconds = (t: Instant): UnixSeconds => Math.floor(t / 1000) as UnixSeconds;
