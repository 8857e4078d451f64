import type { NostrEvent } from "./event.ts";
import { type Reason, reason } from "./reason.ts";

/** NIP-13: the difficulty that an id shows. */
export function leadingZeroBits(hex: string): number {
  let bits = 0;
  for (let i = 0; i < hex.length; i++) {
    const digit = Number.parseInt(hex.charAt(i), 16);
    if (digit !== 0) return bits + Math.clz32(digit) - 28;
    bits += 4;
  }
  return bits;
}

const TARGET = /^[0-9]{1,3}$/;

/** NIP-13: the difficulty its author aimed at, from the third element of the `nonce` tag. */
export function committedTarget(event: Pick<NostrEvent, "tags">): number | undefined {
  const target = event.tags.find((tag) => tag[0] === "nonce")?.[2];
  return target !== undefined && TARGET.test(target) ? Number(target) : undefined;
}

/** grasp.md 3.1: work counts only up to what was committed to, else many cheap tries would pass as one dear one. `undefined`: there is enough. */
export function hasWork(event: Pick<NostrEvent, "id" | "tags">, min: number): Reason | undefined {
  if (min <= 0) return undefined;
  const bits = leadingZeroBits(event.id);
  if (bits < min) return reason("pow", `difficulty ${bits} is less than ${min}`);
  const target = committedTarget(event);
  if (target === undefined) return reason("pow", `the nonce tag must commit to a difficulty of at least ${min}`);
  return target < min ? reason("pow", `committed difficulty ${target} is less than ${min}`) : undefined;
}
