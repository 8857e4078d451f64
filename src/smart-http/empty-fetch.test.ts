import { expect, it } from "vitest";
import { fromUtf8, toUtf8 } from "../base/bytes.ts";
import { pktText } from "../git/pkt-line.ts";
import { emptyFetchAnswer } from "./empty-fetch.ts";

const A = "a".repeat(40);
const WANT = `${pktText("command=fetch")}0001${pktText("thin-pack")}${pktText(`want ${A}\n`)}0000`;
const NOT_OURS = pktText(`ERR upload-pack: not our ref ${A}`);

it.each([
  ["nothing is wanted", "0000", ""],
  ["protocol 2", WANT, NOT_OURS],
  ["protocol 0", `${pktText(`want ${A} ofs-delta agent=x\n`)}0000`, NOT_OURS],
  ["the first of several", `${pktText(`want ${A}\n`)}${pktText(`want ${"b".repeat(40)}\n`)}0000`, NOT_OURS],
  ["no object id", `${pktText("want ../../x\n")}0000`, ""],
  ["no pkt-lines", "hello", pktText("ERR upload-pack: the request is not made of pkt-lines")],
])("grasp.md 7.11: an empty repository lacks what is wanted: %s", (_, request, answer) => {
  expect(fromUtf8(emptyFetchAnswer([toUtf8(request)]))).toBe(answer);
});

it("however the request is cut into chunks", () => {
  const bytes = toUtf8(WANT);
  for (let at = 0; at <= bytes.length; at++) {
    expect(fromUtf8(emptyFetchAnswer([bytes.subarray(0, at), bytes.subarray(at)]))).toBe(NOT_OURS);
  }
});
