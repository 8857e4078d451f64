import { idRank } from "../keys.ts";
import type { Term } from "../query-plan.ts";
import { createdAtOf, idOf } from "../stored-text.ts";
import type { Connection } from "./sqlite-file.ts";

/** Where a list was left: everything before it (newer, or as new and lower in id) was read. */
export interface Cursor {
  readonly createdAt: number;
  readonly rank: number;
  readonly seq: number;
}

export interface Posting extends Cursor {
  readonly kind: number;
  /** Which of the asked terms it stands under. */
  readonly term: number;
}

export const START_OF_TIME = 0;

type PostingRow = [term: number, createdAt: number, rank: number, seq: number, kind: number];
export type BodiedRow = [seq: number, expiresAt: number | null, text: string, term?: number];

/** Where a list stands after this row. */
export const cursorAt = ([seq, , text]: BodiedRow): Cursor => ({ createdAt: createdAtOf(text), rank: idRank(idOf(text)), seq });

/**
 * Lists that one statement merges. SQLite steps such a `UNION ALL` lazily, so it reads no more than it returns; each further list makes every step
 * a little dearer, and beyond this number several statements merged here are cheaper.
 */
const GROUP_MAX = 64;
/** About three milliseconds. */
const REFILLS_A_SLICE = 4;

/** Reads posting lists: one statement for up to `GROUP_MAX` of them, merged newest first. */
export class Postings {
  readonly groupMax = GROUP_MAX;
  readonly #db: Connection;
  readonly #bare = new Map<number, (parameters: readonly number[]) => PostingRow[]>();
  readonly #bodied = new Map<number, (parameters: readonly number[]) => BodiedRow[]>();

  readonly #present;

  constructor(db: Connection) {
    this.#db = db;
    this.#present = db.prepare<[number], number>("SELECT 1 FROM posting WHERE key = ? LIMIT 1").pluck();
  }

  /** Those of many terms that have a list at all. A look at a list costs a tenth of merging it, and of many values that are asked for most name nothing. */
  present(terms: readonly Term[]): readonly Term[] {
    return terms.length <= GROUP_MAX ? terms : terms.filter((term) => this.#present.get(term.key) !== undefined);
  }

  startOf(until: number | undefined): Cursor {
    return {
      createdAt: until === undefined ? Number.MAX_SAFE_INTEGER : until,
      rank: Number.MAX_SAFE_INTEGER,
      seq: Number.MAX_SAFE_INTEGER,
    };
  }

  /**
   * At least `max` while there are so many; a few more where the last ones tie in time and in the beginning of their id. Few columns, because every value
   * of a row costs: time and id are read off the text.
   */
  withBodies(terms: readonly Term[], from: Cursor, since: number, max: number): BodiedRow[] {
    let read = this.#bodied.get(terms.length);
    if (read === undefined) {
      const columns = terms.length === 1 ? "p.seq, b.expires_at, b.text" : "p.seq, b.expires_at, b.text, p.term";
      const sql = `SELECT ${columns} FROM (${unionSql(terms.length)}) p CROSS JOIN body b ON b.seq = p.seq`;
      const statement = this.#db.prepare<number[], BodiedRow>(sql).raw(true);
      read = (parameters) => statement.all(...parameters);
      this.#bodied.set(terms.length, read);
    }
    for (let more = 1; ; more *= 8) {
      const rows = read(parametersOf(terms, 0, terms.length, from, since, max + more));
      if (rows.length < max + more) return rows;
      for (let end = rows.length - 1; end >= max; end--) {
        const last = cursorAt(rows[end] as BodiedRow);
        const before = cursorAt(rows[end - 1] as BodiedRow);
        if (last.createdAt !== before.createdAt || last.rank !== before.rank) return rows.slice(0, end);
      }
    }
  }

  /**
   * All terms, merged newest first: a function that gives the next so many, never ending between two that tie; nothing when there are no more.
   * With very many terms the first calls give an empty list each, so that others get their turn while the lists are opened.
   */
  merged(terms: readonly Term[], until: number | undefined, since: number): (slice: number) => readonly Posting[] | undefined {
    const groups: Group[] = [];
    for (let first = 0; first < terms.length; first += GROUP_MAX) {
      groups.push({ first, count: Math.min(GROUP_MAX, terms.length - first), rows: [], at: 0, cursor: this.startOf(until), ended: false });
    }
    return (slice) => {
      const out: Posting[] = [];
      const share = Math.max(64, Math.ceil(slice / groups.length));
      let refills = 0;
      for (;;) {
        let best: Posting | undefined;
        let from: Group | undefined;
        for (const group of groups) {
          if (group.at === group.rows.length && !group.ended) {
            if (out.length === 0 && ++refills > REFILLS_A_SLICE) return out;
            this.#refill(group, terms, since, share);
          }
          const candidate = group.rows[group.at];
          if (candidate !== undefined && (best === undefined || isNewer(candidate, best))) {
            best = candidate;
            from = group;
          }
        }
        if (best === undefined || from === undefined) return out.length === 0 ? undefined : out;
        const last = out[out.length - 1];
        const ties = last?.createdAt === best.createdAt && last.rank === best.rank;
        if (out.length >= slice && !ties) return out;
        from.at++;
        out.push(best);
      }
    };
  }

  #refill(group: Group, terms: readonly Term[], since: number, max: number): void {
    let read = this.#bare.get(group.count);
    if (read === undefined) {
      const statement = this.#db.prepare<number[], PostingRow>(unionSql(group.count)).raw(true);
      read = (parameters) => statement.all(...parameters);
      this.#bare.set(group.count, read);
    }
    const rows = read(parametersOf(terms, group.first, group.count, group.cursor, since, max));
    group.rows = rows.map(([term, createdAt, rank, seq, kind]) => ({ term: term + group.first, createdAt, rank, seq, kind }));
    group.at = 0;
    group.ended = rows.length < max;
    const last = group.rows[group.rows.length - 1];
    if (last !== undefined) group.cursor = last;
  }
}

interface Group {
  readonly first: number;
  readonly count: number;
  rows: readonly Posting[];
  at: number;
  cursor: Cursor;
  ended: boolean;
}

const isNewer = (a: Cursor, b: Cursor): boolean =>
  a.createdAt !== b.createdAt ? a.createdAt > b.createdAt : a.rank !== b.rank ? a.rank > b.rank : a.seq > b.seq;

function unionSql(count: number): string {
  const parts: string[] = [];
  for (let i = 0; i < count; i++) {
    parts.push(
      `SELECT ${i} AS term, created_at, id_rank, seq, kind FROM posting WHERE key = ? AND (created_at, id_rank, seq) < (?, ?, ?) AND created_at >= ?`,
    );
  }
  // `LIMIT ?` alone makes SQLite plan the statement anew at every call, because the plan may depend on the number; an expression hides it (five times faster).
  return `${parts.join(" UNION ALL ")} ORDER BY 2 DESC, 3 DESC, 4 DESC LIMIT ? + 0`;
}

function parametersOf(terms: readonly Term[], first: number, count: number, from: Cursor, since: number, max: number): number[] {
  const parameters: number[] = [];
  for (let i = first; i < first + count; i++) parameters.push((terms[i] as Term).key, from.createdAt, from.rank, from.seq, since);
  parameters.push(max);
  return parameters;
}
