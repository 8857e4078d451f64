/** What a row means, so that a ratio can say who is better. */
export interface Row {
  readonly section: string;
  readonly label: string;
  readonly unit: string;
  readonly better: "more" | "less";
  /** CPU is counted in steps of 10 ms: the mean over the rounds is then truer than the median. */
  readonly mean?: boolean;
}

export interface Cell {
  readonly values: number[];
  /** The relay's own words when it would not, or why a number is to be read with care. */
  note: string | undefined;
}

/** All readings of a run: one cell per row and relay, with a value per round. */
export class Sheet {
  readonly columns: readonly string[];
  readonly #rows = new Map<string, { readonly row: Row; readonly cells: Map<string, Cell> }>();

  constructor(columns: readonly string[]) {
    this.columns = columns;
  }

  add(column: string, row: Row, value: number): void {
    this.#cell(column, row).values.push(value);
  }

  note(column: string, row: Row, note: string): void {
    this.#cell(column, row).note ??= note;
  }

  /** Sections in the order of their first reading, with all their rows together. */
  rows(): { readonly row: Row; readonly cells: ReadonlyMap<string, Cell> }[] {
    const all = [...this.#rows.values()];
    const sections = [...new Set(all.map(({ row }) => row.section))];
    return sections.flatMap((section) => all.filter(({ row }) => row.section === section));
  }

  #cell(column: string, row: Row): Cell {
    const key = `${row.section}\n${row.label}`;
    let entry = this.#rows.get(key);
    if (entry === undefined) {
      entry = { row, cells: new Map() };
      this.#rows.set(key, entry);
    }
    let cell = entry.cells.get(column);
    if (cell === undefined) {
      cell = { values: [], note: undefined };
      entry.cells.set(column, cell);
    }
    return cell;
  }
}

/** What is told of a cell's rounds. */
export function settled(row: Row, values: readonly number[]): number {
  return row.mean === true ? values.reduce((sum, value) => sum + value, 0) / values.length : median(values);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
