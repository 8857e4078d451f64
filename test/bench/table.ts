import { type Cell, type Row, type Sheet, settled } from "./sheet.ts";

/** Less than this apart is level. */
const LEVEL = 1.01;

/** The sheet as markdown: medians (CPU: means), and for every relay but the first how it stands to the first (× of its value; bold when it is ahead). */
export function markdown(sheet: Sheet): string {
  const [first, ...others] = sheet.columns;
  if (first === undefined) return "";
  const notes: string[] = [];
  const noteMark = (text: string): string => {
    let at = notes.indexOf(text);
    if (at < 0) at = notes.push(text) - 1;
    return ` [${at + 1}]`;
  };
  const lines: string[] = [];
  let section = "";
  for (const { row, cells } of sheet.rows()) {
    if (row.section !== section) {
      section = row.section;
      lines.push("", `### ${section}`, "", line(["", "unit", ...sheet.columns]), line(["---", "---", ...sheet.columns.map(() => "--:")]));
    }
    const base = cells.get(first);
    const texts = [cellText(row, base, noteMark)];
    for (const column of others) {
      const cell = cells.get(column);
      texts.push(cellText(row, cell, noteMark) + ratioText(row, base, cell));
    }
    lines.push(line([row.label, row.unit, ...texts]));
  }
  if (notes.length > 0) lines.push("", ...notes.map((note, at) => `[${at + 1}] ${note}  `));
  return `${lines.join("\n").trimStart()}\n`;
}

export function asJson(sheet: Sheet, about: Record<string, unknown>): string {
  const rows = sheet.rows().map(({ row, cells }) => ({
    ...row,
    relays: Object.fromEntries(
      [...cells].map(([column, cell]) => [
        column,
        { value: cell.values.length === 0 ? null : settled(row, cell.values), values: cell.values, note: cell.note },
      ]),
    ),
  }));
  return `${JSON.stringify({ ...about, relays: sheet.columns, rows }, null, 2)}\n`;
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function cellText(row: Row, cell: Cell | undefined, noteMark: (text: string) => string): string {
  if (cell === undefined) return "–";
  const mark = cell.note === undefined ? "" : noteMark(cell.note);
  return (cell.values.length === 0 ? "–" : amount(settled(row, cell.values))) + mark;
}

function ratioText(row: Row, base: Cell | undefined, cell: Cell | undefined): string {
  if (base === undefined || cell === undefined || base.values.length === 0 || cell.values.length === 0) return "";
  const reference = settled(row, base.values);
  if (reference === 0) return "";
  const ratio = settled(row, cell.values) / reference;
  const ahead = row.better === "more" ? ratio > LEVEL : ratio < 1 / LEVEL;
  const text = `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)} ×`;
  return ` (${ahead ? `**${text}**` : text})`;
}

function amount(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}
