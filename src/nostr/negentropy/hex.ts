import { type NegProblem, problem } from "./problem.ts";

/** The bytes of a message as it stands in NEG-OPEN and NEG-MSG. Either case is taken. */
export function fromHex(text: string): Uint8Array | NegProblem {
  const bytes = Buffer.from(text, "hex");
  // Buffer stops quietly at the first pair that is not hex: what it left out is how we know.
  return bytes.length * 2 === text.length ? bytes : problem("not-hex");
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
