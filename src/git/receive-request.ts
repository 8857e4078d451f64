import { fromUtf8 } from "../base/bytes.ts";
import { formatOf, type ObjectFormat, type Oid, readOid, zeroOid } from "./oid.ts";
import { type Pkt, PktDecoder } from "./pkt-line.ts";
import { NO_CAPABILITIES, type PushCapabilities, readPushCapabilities } from "./push-capabilities.ts";
import type { ReceiveProblem } from "./receive-problem.ts";
import { isBranch, isTag, nostrRefId, type RefName, readRefName } from "./ref-name.ts";
import type { RefUpdate } from "./ref-update.ts";

export interface ReceiveLimits {
  readonly commandsMax: number;
  readonly shallowMax: number;
  readonly bytesMax: number;
}

export const RECEIVE_LIMITS: ReceiveLimits = {
  // grasp.md 7.4 and 7.16: every command is judged and answered one by one.
  commandsMax: 2_000,
  // grasp.md 7.4: a shallow clone has a handful of boundaries.
  shallowMax: 2_000,
  // 2,000 commands with names of 850 bytes, SHA-256: what is parsed before anyone is authorised stays small.
  bytesMax: 2 * 1_048_576,
};

export interface ReceiveRequest {
  readonly commands: readonly [RefUpdate, ...RefUpdate[]];
  readonly capabilities: PushCapabilities;
  readonly shallow: readonly Oid[];
  /** Length of the command list, its flush included: the pack begins there. */
  readonly bytes: number;
}

export type ReceiveStep =
  | { readonly kind: "more" }
  /** The whole body is `0000`: a client asks whether it may speak to us. Answered 200; it runs nothing. */
  | { readonly kind: "probe" }
  /** `rest`: the beginning of the pack, as far as it came in the same chunk; a view of that chunk. */
  | { readonly kind: "request"; readonly request: ReceiveRequest; readonly rest: Uint8Array }
  /** `sideBand64k`: whether the answer goes into band 3 (grasp.md 7.11). */
  | { readonly kind: "problem"; readonly problem: ReceiveProblem; readonly sideBand64k: boolean };

const MORE: ReceiveStep = { kind: "more" };
const LINE_FEED = 0x0a;

/** The command list of a push, fed chunk by chunk until a step is not `more`; then it is done. */
export class ReceiveReader {
  readonly #limits: ReceiveLimits;
  readonly #lines = new PktDecoder();
  readonly #commands: RefUpdate[] = [];
  readonly #names = new Set<RefName>();
  readonly #shallow: Oid[] = [];
  #capabilities: PushCapabilities | undefined;
  #flushed = false;
  #last: ReceiveStep = MORE;

  constructor(limits: ReceiveLimits = RECEIVE_LIMITS) {
    this.#limits = limits;
  }

  feed(chunk: Uint8Array): ReceiveStep {
    if (this.#last.kind !== "more" || chunk.length === 0) return this.#last;
    // The probe is these four bytes and no more.
    if (this.#flushed) return this.#refuse({ kind: "no-commands" });
    this.#lines.feed(chunk);
    for (let pkt = this.#lines.next(); pkt !== undefined; pkt = this.#lines.next()) {
      if (this.#lines.consumed > this.#limits.bytesMax) return this.#refuse({ kind: "too-many-bytes" });
      if (pkt.kind === "malformed") return this.#refuse({ kind: "malformed-line" });
      if (pkt.kind === "flush") return this.#flush();
      const problem = this.#line(pkt);
      if (problem !== undefined) return this.#refuse(problem);
    }
    return this.#lines.consumed > this.#limits.bytesMax ? this.#refuse({ kind: "too-many-bytes" }) : MORE;
  }

  /** The body is over. */
  end(): ReceiveStep {
    if (this.#last.kind !== "more") return this.#last;
    if (!this.#flushed) return this.#refuse({ kind: "cut-short" });
    this.#last = { kind: "probe" };
    return this.#last;
  }

  #flush(): ReceiveStep {
    const [first, ...others] = this.#commands;
    if (first === undefined) {
      this.#flushed = true;
      const isProbe = this.#shallow.length === 0 && this.#lines.rest.length === 0;
      return isProbe ? MORE : this.#refuse({ kind: "no-commands" });
    }
    const request: ReceiveRequest = {
      commands: [first, ...others],
      capabilities: this.#capabilities ?? NO_CAPABILITIES,
      shallow: this.#shallow,
      bytes: this.#lines.consumed,
    };
    this.#last = { kind: "request", request, rest: this.#lines.rest };
    return this.#last;
  }

  #refuse(problem: ReceiveProblem): ReceiveStep {
    this.#last = { kind: "problem", problem, sideBand64k: this.#capabilities?.sideBand64k ?? false };
    return this.#last;
  }

  #line(pkt: Pkt): ReceiveProblem | undefined {
    if (pkt.kind !== "data") return { kind: "unknown-line" };
    // One line feed at the end is part of a pkt-line's text; git takes it away too.
    const line = pkt.data.at(-1) === LINE_FEED ? pkt.data.subarray(0, -1) : pkt.data;
    const nul = line.indexOf(0);
    const text = fromUtf8(nul < 0 ? line : line.subarray(0, nul));
    const listed = nul < 0 ? undefined : fromUtf8(line.subarray(nul + 1));
    if (listed !== undefined && this.#capabilities === undefined) {
      // Read before the line is judged: they say in which form the refusal is understood.
      const capabilities = readPushCapabilities(listed);
      if (typeof capabilities === "string") return { kind: capabilities };
      this.#capabilities = capabilities;
    }
    if (text === undefined || (nul >= 0 && listed === undefined)) return { kind: "unknown-line" };
    if (text === "push-cert") return { kind: "push-cert" };
    if (text.startsWith("shallow ")) return nul < 0 ? this.#shallowLine(text) : { kind: "unknown-line" };
    if (nul >= 0 && this.#commands.length > 0) return { kind: "late-capabilities" };
    return this.#command(text);
  }

  #shallowLine(text: string): ReceiveProblem | undefined {
    if (this.#commands.length > 0) return { kind: "unknown-line" };
    if (this.#shallow.length === this.#limits.shallowMax) return { kind: "too-many-shallow" };
    const id = text.slice("shallow ".length);
    const oid = readOid(id);
    if (oid === undefined) return { kind: "object-id", text: id };
    this.#shallow.push(oid);
    return undefined;
  }

  #command(text: string): ReceiveProblem | undefined {
    const [, from, to, name] = COMMAND.exec(text) ?? [];
    if (from === undefined || to === undefined || name === undefined) return { kind: "unknown-line" };
    if (this.#commands.length === this.#limits.commandsMax) return { kind: "too-many-commands" };
    const format = (this.#capabilities ?? NO_CAPABILITIES).objectFormat;
    if (this.#commands.length === 0 && this.#shallow.some((oid) => formatOf(oid) !== format)) return { kind: "mixed-formats" };
    for (const id of [from, to]) {
      const written = formatOfText(id);
      if (written === undefined) return { kind: "object-id", text: id };
      if (written !== format) return { kind: "mixed-formats" };
    }
    const ref = readRefName(name);
    if (ref === undefined) return { kind: "ref-name", text: name };
    // Below refs/nostr/ there are event ids and nothing else (grasp.md 7.9).
    if (!isBranch(ref) && !isTag(ref) && nostrRefId(ref) === undefined) return { kind: "ref-outside", text: name };
    if (this.#names.has(ref)) return { kind: "duplicate-ref", text: name };
    this.#names.add(ref);
    this.#commands.push({ ref, from: readOid(from), to: readOid(to) });
    return undefined;
  }
}

/** The ids are judged apart, so that each refusal says what is wrong; a name never holds a space. */
const COMMAND = /^([^ ]+) ([^ ]+) ([^ ]+)$/;

/** Of an id or of "none", which `readOid` does not tell from nonsense. */
function formatOfText(id: string): ObjectFormat | undefined {
  const oid = readOid(id);
  if (oid !== undefined) return formatOf(oid);
  if (id === zeroOid("sha1")) return "sha1";
  return id === zeroOid("sha256") ? "sha256" : undefined;
}
