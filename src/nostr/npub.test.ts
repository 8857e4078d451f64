import { bech32, bech32m } from "@scure/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { fromHex, toHex } from "../../test/kit/keys.ts";
import { decodeNpub, decodeNsec, encodeNpub, encodeNsec, secretKey } from "./npub.ts";

const NPUB = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
const HEX = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";
const NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";
const SECRET = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa";

test("NIP-19: its own examples", () => {
  expect(decodeNpub(NPUB)).toBe(HEX);
  const secret = decodeNsec(NSEC);
  if (secret === undefined) throw new Error("not read");
  expect(toHex(secret)).toBe(SECRET);
  expect(encodeNsec(secret)).toBe(NSEC);
});

test("grasp.md 2.5: a number that is no secret key is not one", () => {
  const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
  const below = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140";
  for (const hex of ["00".repeat(32), order, "ff".repeat(32), "01".repeat(31)]) expect(secretKey(fromHex(hex))).toBeUndefined();
  for (const hex of [`${"00".repeat(31)}01`, below]) expect(secretKey(fromHex(hex))).toEqual(fromHex(hex));
  expect(decodeNsec(bech32.encodeFromBytes("nsec", fromHex(order)))).toBeUndefined();
});

test.each([
  ["empty", ""],
  ["upper case", NPUB.toUpperCase()],
  ["mixed case", `${NPUB.slice(0, -1)}G`],
  ["one letter other", NPUB.replace("elf", "elg")],
  ["too long", `${NPUB}q`],
  ["white space", ` ${NPUB}`],
  ["another prefix", bech32.encodeFromBytes("note", fromHex(HEX))],
  ["the secret's prefix", NSEC],
  ["bech32m", bech32m.encodeFromBytes("npub", fromHex(HEX))],
  ["31 bytes", bech32.encodeFromBytes("npub", fromHex(HEX.slice(2)))],
  ["33 bytes", bech32.encodeFromBytes("npub", fromHex(`${HEX}00`))],
  ["padding bits that are not zero", paddedWrongly()],
])("no npub: %s", (_, text) => {
  expect(decodeNpub(text)).toBeUndefined();
});

/** 32 bytes are 51 words and one bit: the last four bits of the last word say nothing and must be zero. */
function paddedWrongly(): string {
  const words = [...bech32.toWords(fromHex(HEX))];
  words[51] = (words[51] ?? 0) | 1;
  return bech32.encode("npub", words);
}

test("every key comes back, and no text but its own gives it", () => {
  fc.assert(
    fc.property(
      fc.nat().map(fakeKey),
      fc.nat({ max: 62 }),
      fc.constantFrom(...Array.from("qpzry9x8gf2tvdw0s3jn54khce6mua7lQ1b")),
      (key, at, letter) => {
        const npub = encodeNpub(key);
        expect(decodeNpub(npub)).toBe(key);
        const other = npub.slice(0, at) + letter + npub.slice(at + 1);
        if (other !== npub) expect(decodeNpub(other)).toBeUndefined();
      },
    ),
    runs(300),
  );
});
