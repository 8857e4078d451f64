import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { concatBytes, fromUtf8 } from "../base/bytes.ts";
import { oneLine } from "./one-line.ts";
import { PktDecoder } from "./pkt-line.ts";
import type { RefName } from "./ref-name.ts";
import { authorisationFailed, errLine, type PushReport, progressLine, REASON_LENGTH_MAX, reportStatus } from "./report-status.ts";

const ref = (name: string): RefName => `refs/heads/${name}` as RefName;
const report: PushReport = {
  unpackError: undefined,
  results: [
    { kind: "ok", ref: ref("a") },
    { kind: "ng", ref: ref("b"), reason: "no state names it" },
  ],
};
const plain = { reportStatus: true, sideBand64k: false };
const banded = { reportStatus: true, sideBand64k: true };
const text = (bytes: Uint8Array): string | undefined => fromUtf8(bytes);

/** Each line as text; a line that is not data by its kind. */
function linesOf(bytes: Uint8Array): string[] {
  const decoder = new PktDecoder();
  decoder.feed(bytes);
  const lines: string[] = [];
  for (let pkt = decoder.next(); pkt !== undefined; pkt = decoder.next()) {
    lines.push(pkt.kind === "data" ? (text(pkt.data) ?? "not text") : pkt.kind);
    if (pkt.kind === "malformed") break;
  }
  return lines;
}

/** What a client finds in one band. */
function band(bytes: Uint8Array, number: number): Uint8Array {
  const decoder = new PktDecoder();
  decoder.feed(bytes);
  const parts: Uint8Array[] = [];
  for (let pkt = decoder.next(); pkt?.kind === "data"; pkt = decoder.next()) if (pkt.data[0] === number) parts.push(pkt.data.subarray(1));
  return concatBytes(parts);
}

test("grasp.md 7.11: a report in plain lines", () => {
  expect(linesOf(reportStatus(report, plain))).toEqual([
    "unpack ok\n",
    "ok refs/heads/a\n",
    "ng refs/heads/b no state names it\n",
    "flush",
  ]);
});

test("the same inside band 1, and a flush behind it", () => {
  const bytes = reportStatus(report, banded);
  expect(band(bytes, 1)).toEqual(reportStatus(report, plain));
  expect(linesOf(bytes)).toHaveLength(2);
  expect(linesOf(bytes).at(-1)).toBe("flush");
});

test("a client that asked for no report gets none", () => {
  expect(reportStatus(report, { reportStatus: false, sideBand64k: false })).toHaveLength(0);
  expect(text(reportStatus(report, { reportStatus: false, sideBand64k: true }))).toBe("0000");
});

test("what went wrong with the pack", () => {
  expect(linesOf(reportStatus({ unpackError: "index-pack\nfailed", results: [] }, plain))).toEqual(["unpack index-pack failed\n", "flush"]);
});

test("grasp.md 7.4: the report of 2,000 commands is longer than a line and comes in several", () => {
  const many: PushReport = {
    unpackError: undefined,
    results: Array.from({ length: 2_000 }, (_, i) => ({ kind: "ng", ref: ref(`branch-${i}`), reason: "x".repeat(400) })),
  };
  const bytes = reportStatus(many, banded);
  expect(band(bytes, 1)).toEqual(reportStatus(many, plain));
  expect(linesOf(bytes)).not.toContain("malformed");
});

test("a hint is for those who have a band for it", () => {
  expect(linesOf(progressLine("GRASP is finalizing", banded))).toEqual(["\u0002GRASP is finalizing\n"]);
  expect(progressLine("GRASP is finalizing", plain)).toHaveLength(0);
});

test("grasp.md 7.11: ERR, bare or in band 3", () => {
  expect(linesOf(authorisationFailed("no state", false))).toEqual(["ERR authorisation failed: no state"]);
  expect(linesOf(authorisationFailed("no state", true))).toEqual(["\u0003ERR authorisation failed: no state", "flush"]);
  expect(linesOf(errLine("upload-pack: not our ref", false))).toEqual(["ERR upload-pack: not our ref"]);
});

test("a reason cannot begin another line, nor move the cursor, nor turn the text around", () => {
  const reason = "a\nok refs/heads/b\r\u001b[2K\u0000\u0085\u202e\u2028b";
  const [, line] = linesOf(reportStatus({ unpackError: undefined, results: [{ kind: "ng", ref: ref("b"), reason }] }, plain));
  expect(line).toBe("ng refs/heads/b a ok refs/heads/b [2K b\n");
  expect(linesOf(reportStatus({ unpackError: "\n", results: [] }, plain))[0]).toBe("unpack no reason given\n");
});

test("any reason makes one bounded printable line", () => {
  const any = fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    maxLength: 700,
    size: "max",
  });
  fc.assert(
    fc.property(any, (reason) => {
      const line = oneLine(reason, REASON_LENGTH_MAX);
      expect(line.length).toBeLessThanOrEqual(REASON_LENGTH_MAX);
      expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(linesOf(reportStatus({ unpackError: undefined, results: [{ kind: "ng", ref: ref("b"), reason }] }, plain))).toHaveLength(3);
    }),
    runs(500),
  );
  expect(oneLine("x".repeat(600), 500)).toBe(`${"x".repeat(499)}…`);
  expect(oneLine("x".repeat(500), 500)).toBe("x".repeat(500));
});
