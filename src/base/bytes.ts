const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const notHex = 255;
const valueOfHex = new Uint8Array(128).fill(notHex);
for (let value = 0; value < 16; value++) valueOfHex[value.toString(16).charCodeAt(0)] = value;

/** Lower case, two characters per byte. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += hexOfByte[bytes[i] as number];
  return text;
}

/** Lower case only: a value that is compared as text must have one spelling. Undefined for anything else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = valueOfHex[text.charCodeAt(2 * i)] ?? notHex;
    const low = valueOfHex[text.charCodeAt(2 * i + 1)] ?? notHex;
    if (high === notHex || low === notHex) return undefined;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/** Negative, zero or positive, byte by byte from the first; a prefix comes before what it begins. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && compareBytes(a, b) === 0;

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const encoder = new TextEncoder();
// A byte order mark is a character like any other here: dropping it would make two different inputs equal.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const toUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** Undefined when the bytes are not UTF-8: nothing is silently replaced. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** How many bytes `toUtf8` would make, without making them. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else {
      length += 2;
      // A surrogate pair is two units and four bytes; a lone one is written as the three bytes of U+FFFD.
      const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
      if (isPair) i++;
    }
  }
  return length;
}
