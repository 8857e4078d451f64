import { concatBytes, toUtf8 } from "../base/bytes.ts";
import { oneLine } from "./one-line.ts";
import { FLUSH, PKT_DATA_MAX, pktBytes, pktText } from "./pkt-line.ts";
import type { PushCapabilities } from "./push-capabilities.ts";
import type { RefName } from "./ref-name.ts";

export type RefResult =
  | { readonly kind: "ok"; readonly ref: RefName }
  | { readonly kind: "ng"; readonly ref: RefName; readonly reason: string };

export interface PushReport {
  /** What went wrong with the pack; `undefined`: `unpack ok`. */
  readonly unpackError: string | undefined;
  readonly results: readonly RefResult[];
}

/** How the client wants to be answered; a push's capabilities have it. */
export type AnswerForm = Pick<PushCapabilities, "reportStatus" | "sideBand64k">;

/** Which state, by whom, expects which value: 300 characters. Clients print it on one line. */
export const REASON_LENGTH_MAX = 500;

const DATA_BAND = Uint8Array.of(1);
const PROGRESS_BAND = Uint8Array.of(2);
const ERROR_BAND = Uint8Array.of(3);
const BAND_DATA_MAX = PKT_DATA_MAX - 1;
const NOTHING = new Uint8Array(0);
const END = toUtf8(FLUSH);

const said = (text: string): string => oneLine(text, REASON_LENGTH_MAX) || "no reason given";

/** The last bytes of an answer to a push, in the form that its client negotiated (grasp.md 7.11). */
export function reportStatus(report: PushReport, form: AnswerForm): Uint8Array<ArrayBuffer> {
  const status = form.reportStatus ? statusLines(report) : NOTHING;
  return form.sideBand64k ? concatBytes([...inBand(DATA_BAND, status), END]) : status;
}

function statusLines({ unpackError, results }: PushReport): Uint8Array<ArrayBuffer> {
  const lines = results.map((result) => pktText(result.kind === "ok" ? `ok ${result.ref}\n` : `ng ${result.ref} ${said(result.reason)}\n`));
  return toUtf8([pktText(`unpack ${unpackError === undefined ? "ok" : said(unpackError)}\n`), ...lines, FLUSH].join(""));
}

/** A line that git shows behind `remote:`. Nothing for a client that has no band for it: it would take the bytes for its report. */
export const progressLine = (text: string, form: AnswerForm): Uint8Array<ArrayBuffer> =>
  form.sideBand64k ? pktBytes(PROGRESS_BAND, toUtf8(`${said(text)}\n`)) : NOTHING;

/** An `ERR` line, the whole answer; inside a side-band a bare one would be read as band 69 (`E`). */
export function errLine(text: string, sideBand64k: boolean): Uint8Array<ArrayBuffer> {
  // No line end, as git sends it: in band 3 it would be shown as an empty line.
  const line = toUtf8(`ERR ${said(text)}`);
  return sideBand64k ? concatBytes([pktBytes(ERROR_BAND, line), END]) : pktBytes(line);
}

/** grasp.md 7.11: the answer to a push whose commands could not be read. Clients look for these words. */
export const authorisationFailed = (reason: string, sideBand64k: boolean): Uint8Array<ArrayBuffer> =>
  errLine(`authorisation failed: ${reason}`, sideBand64k);

function* inBand(band: Uint8Array, bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += BAND_DATA_MAX) yield pktBytes(band, bytes.subarray(at, at + BAND_DATA_MAX));
}
