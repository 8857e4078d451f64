/** Line ends, control, formatting and unassigned characters, halves of characters: a terminal that shows them could be made to show something else. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]+/gu;

/** Text as one printable line of at most `lengthMax` characters; what is cut off is marked. */
export function oneLine(text: string, lengthMax: number): string {
  // Cut first: cleaning a long text for the sake of its beginning would be work for nothing.
  const cut = text.slice(0, lengthMax + 1);
  const clean = cut.replace(UNPRINTABLE, " ").trim();
  return cut.length <= lengthMax
    ? clean
    : `${Array.from(clean)
        .slice(0, lengthMax - 1)
        .join("")}…`;
}
