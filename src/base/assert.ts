/** For our own mistakes only: input from outside is answered with a verdict, never with this. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}
