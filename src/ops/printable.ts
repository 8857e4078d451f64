/** Control characters, separators that break lines, and marks that turn the direction of text: a stranger could forge log lines with them. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\p{Cs}]/gu;

const escape = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
};

/** A text that may stand in a log line or a message: nothing in it moves the cursor, ends the line or hides, and it is not long. */
export function printable(text: string, lengthMax = 500): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  return cut.replace(UNPRINTABLE, escape);
}
