/** How often a property is tried, and from which seed. The default is the same every time; both can be set to search for longer. */
export interface Runs {
  readonly numRuns: number;
  readonly seed: number;
}

const DEFAULT_SEED = 20_261_115;

/** `HOLDFAST_PROP_RUNS` multiplies, `HOLDFAST_PROP_SEED` chooses; fast-check prints the seed and the path of a failure. */
export function runs(base: number): Runs {
  return { numRuns: base * propertyFactor(), seed: wholeNumber("HOLDFAST_PROP_SEED") ?? DEFAULT_SEED };
}

export function propertyFactor(): number {
  return Math.max(1, wholeNumber("HOLDFAST_PROP_RUNS") ?? 1);
}

function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isInteger(value)) throw new Error(`${name} must be a whole number, not ${text}`);
  return value;
}
