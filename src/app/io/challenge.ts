import { randomBytes } from "node:crypto";

/** NIP-42: 16 random bytes as hex; nobody guesses one that was sent to somebody else. */
export const newChallenge = (): string => randomBytes(16).toString("hex");
