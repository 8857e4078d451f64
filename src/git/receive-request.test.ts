import { expect, test } from "vitest";
import { concatBytes, fromUtf8, toUtf8 } from "../base/bytes.ts";
import { FLUSH, pktBytes, pktText } from "./pkt-line.ts";
import { NO_CAPABILITIES } from "./push-capabilities.ts";
import { receiveProblemText } from "./receive-problem.ts";
import { RECEIVE_LIMITS, ReceiveReader, type ReceiveStep } from "./receive-request.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const ZERO = "0".repeat(40);
const LONG = "c".repeat(64);
const LONG_ZERO = "0".repeat(64);
const EVENT = "d".repeat(64);

/** The whole body at once, then its end. */
function read(body: string | Uint8Array, limits = RECEIVE_LIMITS): ReceiveStep {
  const reader = new ReceiveReader(limits);
  const step = reader.feed(typeof body === "string" ? toUtf8(body) : body);
  return step.kind === "more" ? reader.end() : step;
}
const list = (...lines: string[]): string => [...lines.map(pktText), FLUSH].join("");
const problemOf = (body: string | Uint8Array): unknown => {
  const step = read(body);
  return step.kind === "problem" ? step.problem.kind : step.kind;
};

test("grasp.md 7.4: commands, capabilities and the place where the pack begins", () => {
  const commands = list(
    `${ZERO} ${A} refs/heads/main\0 report-status side-band-64k atomic quiet delete-refs object-format=sha1 agent=git/2.39.5`,
    `${A} ${B} refs/tags/v1\n`,
    `${A} ${ZERO} refs/nostr/${EVENT}`,
  );
  const step = read(`${commands}PACK…`);
  if (step.kind !== "request") throw new Error(step.kind);
  expect(step.request).toEqual({
    commands: [
      { ref: "refs/heads/main", from: undefined, to: A },
      { ref: "refs/tags/v1", from: A, to: B },
      { ref: `refs/nostr/${EVENT}`, from: A, to: undefined },
    ],
    capabilities: {
      reportStatus: true,
      sideBand64k: true,
      atomic: true,
      quiet: true,
      deleteRefs: true,
      objectFormat: "sha1",
      agent: "git/2.39.5",
    },
    shallow: [],
    bytes: commands.length,
  });
  expect(fromUtf8(step.rest)).toBe("PACK…");
});

test("a push without capabilities wants nothing", () => {
  expect(read(list(`${ZERO} ${A} refs/heads/main`))).toMatchObject({ request: { capabilities: NO_CAPABILITIES } });
});

test("grasp.md 7.4: shallow lines come first, and the capabilities stand on the first command all the same", () => {
  expect(read(list(`shallow ${A}`, `shallow ${B}\n`, `${ZERO} ${A} refs/heads/main\0report-status`))).toMatchObject({
    request: { shallow: [A, B], capabilities: { reportStatus: true } },
  });
});

test("SHA-256 where the client says so", () => {
  const step = read(list(`shallow ${LONG}`, `${LONG_ZERO} ${LONG} refs/heads/main\0object-format=sha256`));
  expect(step).toMatchObject({ request: { commands: [{ from: undefined, to: LONG }], capabilities: { objectFormat: "sha256" } } });
});

test("grasp.md 7.6: zero to zero is read as what it is, so that the verdict can refuse it by name", () => {
  expect(read(list(`${ZERO} ${ZERO} refs/heads/main`))).toMatchObject({ request: { commands: [{ from: undefined, to: undefined }] } });
});

test("grasp.md 7.4: the probe is four bytes, in whatever pieces", () => {
  expect(read(FLUSH)).toEqual({ kind: "probe" });
  const reader = new ReceiveReader();
  for (const byte of toUtf8(FLUSH)) expect(reader.feed(Uint8Array.of(byte))).toEqual({ kind: "more" });
  expect(reader.feed(new Uint8Array(0))).toEqual({ kind: "more" });
  expect(reader.end()).toEqual({ kind: "probe" });
  const longer = new ReceiveReader();
  expect(longer.feed(toUtf8(FLUSH))).toEqual({ kind: "more" });
  expect(longer.feed(toUtf8("P"))).toMatchObject({ problem: { kind: "no-commands" } });
});

const good = `${ZERO} ${A} refs/heads/main`;
test.each([
  ["an empty body", "", "cut-short"],
  ["a body that ends within the list", pktText(good), "cut-short"],
  ["a body that ends within a line", pktText(good).slice(0, -1), "cut-short"],
  ["a flush and more", `${FLUSH}PACK`, "no-commands"],
  ["two flushes", FLUSH + FLUSH, "no-commands"],
  ["shallow lines alone", list(`shallow ${A}`), "no-commands"],
  ["no pkt-lines", "PACK", "malformed-line"],
  ["a reserved length", "0003", "malformed-line"],
  ["a line longer than git's longest", `fff1${"a".repeat(66_000)}`, "malformed-line"],
  ["a signed push", list("push-cert\0report-status side-band-64k", "certificate version 0.1"), "push-cert"],
  ["push options, which would come before the pack", list(`${good}\0push-options`), "push-options"],
  ["a delimiter, where git would stop reading", pktText(good) + "0001" + pktText(good) + FLUSH, "unknown-line"],
  ["a response end", pktText(good) + "0002" + FLUSH, "unknown-line"],
  ["an empty line", list(""), "unknown-line"],
  ["a line feed alone", list("\n"), "unknown-line"],
  ["one id only", list(`${A} refs/heads/main`), "unknown-line"],
  ["another word", list("hello"), "unknown-line"],
  ["an ERR line", list("ERR no"), "unknown-line"],
  ["two spaces", list(`${ZERO}  ${A} refs/heads/main`), "unknown-line"],
  ["a space at the end", list(`${good} `), "unknown-line"],
  ["a space before", list(` ${good}`), "unknown-line"],
  ["a space within the name", list(`${good} x`), "unknown-line"],
  ["a tab between", list(`${ZERO}\t${A} refs/heads/main`), "unknown-line"],
  ["a tab behind an id", list(`${ZERO}\t ${A} refs/heads/main`), "object-id"],
  ["a tab at the end", list(`${good}\t`), "ref-name"],
  ["a carriage return", list(`${good}\r\n`), "ref-name"],
  ["two line feeds", list(`${good}\n\n`), "ref-name"],
  ["two lines in one", list(`${good}\n${good}`), "unknown-line"],
  ["a short id", list(`${ZERO} ${A.slice(1)} refs/heads/main`), "object-id"],
  ["upper case", list(`${ZERO} ${A.toUpperCase()} refs/heads/main`), "object-id"],
  ["an option for an id", list(`${ZERO} --all refs/heads/main`), "object-id"],
  ["a short zero", list(`000 ${A} refs/heads/main`), "object-id"],
  ["a shallow line with two ids", list(`shallow ${A} ${B}`, good), "object-id"],
  ["a shallow line that names no object", list(`shallow ${ZERO}`, good), "object-id"],
  ["a shallow line with capabilities", list(`shallow ${A}\0report-status`, good), "unknown-line"],
  ["a shallow line behind a command", list(good, `shallow ${A}`), "unknown-line"],
  ["capabilities on a later command", list(good, `${ZERO} ${A} refs/heads/next\0report-status`), "late-capabilities"],
  ["capabilities on both", list(`${good}\0quiet`, `${ZERO} ${A} refs/heads/next\0report-status`), "late-capabilities"],
  ["a name that git refuses", list(`${ZERO} ${A} refs/heads/a..b`), "ref-name"],
  ["a peeled tag", list(`${ZERO} ${A} refs/tags/v1^{}`), "ref-name"],
  ["HEAD", list(`${ZERO} ${A} HEAD`), "ref-name"],
  ["a short name", list(`${ZERO} ${A} main`), "ref-name"],
  ["a path", list(`${ZERO} ${A} ../../etc/passwd`), "ref-name"],
  ["refs/notes/", list(`${ZERO} ${A} refs/notes/commits`), "ref-outside"],
  ["refs/replace/", list(`${ZERO} ${A} refs/replace/${A}`), "ref-outside"],
  ["refs/heads itself", list(`${ZERO} ${A} refs/heads`), "ref-outside"],
  ["refs/Heads/", list(`${ZERO} ${A} refs/Heads/main`), "ref-outside"],
  ["refs/nostr/ without an event id", list(`${ZERO} ${A} refs/nostr/main`), "ref-outside"],
  ["one ref twice", list(good, `${A} ${B} refs/heads/main`), "duplicate-ref"],
  ["a format that is not known", list(`${good}\0object-format=sha512`), "object-format"],
  ["two formats", list(`${good}\0object-format=sha1 object-format=sha256`), "object-format"],
  ["ids of two formats", list(`${ZERO} ${LONG} refs/heads/main`), "mixed-formats"],
  ["commands of two formats", list(good, `${LONG_ZERO} ${LONG} refs/heads/next`), "mixed-formats"],
  ["ids of the other format than it says", list(`${good}\0object-format=sha256`), "mixed-formats"],
  ["SHA-256 ids without saying so", list(`${LONG_ZERO} ${LONG} refs/heads/main`), "mixed-formats"],
  ["a shallow line of the other format", list(`shallow ${LONG}`, good), "mixed-formats"],
])("grasp.md 7.4: %s is refused", (_, body, kind) => {
  expect(problemOf(body)).toBe(kind);
});

test("bytes that are no UTF-8 are refused, in the name and in the capabilities", () => {
  const broken = Uint8Array.of(0xff);
  expect(problemOf(concatBytes([pktBytes(toUtf8(good), broken), toUtf8(FLUSH)]))).toBe("unknown-line");
  expect(problemOf(concatBytes([pktBytes(toUtf8(`${good}\0`), broken), toUtf8(FLUSH)]))).toBe("unknown-line");
});

test("grasp.md 7.11: a refusal knows whether the client reads bands, even from the line that is refused", () => {
  const bands = (...lines: string[]): unknown => {
    const step = read(list(...lines));
    return step.kind === "problem" && step.sideBand64k;
  };
  expect(bands("push-cert\0report-status side-band-64k")).toBe(true);
  expect(bands(`${ZERO} ${A} refs/x/y\0side-band-64k`)).toBe(true);
  expect(bands(`${good}\0side-band-64k`, "nonsense")).toBe(true);
  expect(bands(`${ZERO} ${A} refs/x/y\0report-status`)).toBe(false);
  expect(bands(`${good}\0side-band-64k`, `${ZERO} ${A} refs/heads/next\0quiet`)).toBe(true);
  expect(bands("nonsense")).toBe(false);
});

const creations = (count: number): string[] => Array.from({ length: count }, (_, i) => `${ZERO} ${A} refs/heads/b${i}`);
const shallows = (count: number): string[] => Array.from({ length: count }, () => `shallow ${A}`);

test("grasp.md 7.4: 2,000 commands and 2,000 shallow lines, not one more", () => {
  expect(problemOf(list(...shallows(2_000), ...creations(2_000)))).toBe("request");
  expect(problemOf(list(...creations(2_001)))).toBe("too-many-commands");
  expect(problemOf(list(...shallows(2_001), good))).toBe("too-many-shallow");
});

test("the list is bounded in bytes, while it comes and not at its end", () => {
  const limits = { ...RECEIVE_LIMITS, bytesMax: list(...creations(2)).length };
  expect(read(list(...creations(2)), limits).kind).toBe("request");
  expect(read(list(...creations(3)), limits)).toMatchObject({ problem: { kind: "too-many-bytes" } });
  const reader = new ReceiveReader(limits);
  expect(reader.feed(toUtf8(`ffe0${"a".repeat(300)}`))).toMatchObject({ problem: { kind: "too-many-bytes" } });
});

test("an answer stays the answer", () => {
  const reader = new ReceiveReader();
  const step = reader.feed(toUtf8(list(good)));
  expect(step.kind).toBe("request");
  expect(reader.feed(toUtf8("more"))).toBe(step);
  expect(reader.end()).toBe(step);
});

test("every refusal has its own sentence", () => {
  expect(receiveProblemText({ kind: "ref-outside", text: "refs/x/y" })).toBe(
    "only refs/heads/, refs/tags/ and refs/nostr/<event id> can be pushed, not refs/x/y",
  );
  expect(receiveProblemText({ kind: "push-cert" })).toContain("signed state event");
});
