import { PACK_LIMITS } from "../../git/io/quarantine.ts";
import type { PackSizes } from "../push-steps.ts";

/** grasp.md 7.16. */
export interface PushLimits extends PackSizes {
  readonly objectsMax: number;
  readonly silenceMs: number;
  /** Running and waiting: below what one address may have waiting for a git process, so that it is told 429 before anybody else is told 503. */
  readonly perAddressMax: number;
}

export const PUSH_LIMITS: PushLimits = {
  packBytesMax: PACK_LIMITS.packBytesMax,
  strangerBytesMax: 256 * 1024 * 1024,
  objectsMax: PACK_LIMITS.objectsMax,
  silenceMs: PACK_LIMITS.silenceMs,
  perAddressMax: 32,
};
