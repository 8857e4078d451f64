import { fromUtf8 } from "../base/bytes.ts";
import type { LsRefs } from "./ls-refs.ts";
import type { ObjectFormat } from "./oid.ts";
import { PktDecoder } from "./pkt-line.ts";

/** A client names six prefixes for each ref it wants: this is room for ten thousand refs. */
const BYTES_MAX = 4 * 1_048_576;
/** Beyond this nothing is left out, which a client must expect anyway; git does so at 65,536. */
const PREFIXES_MAX = 4_096;

export type V2Step =
  | { readonly kind: "more" }
  | { readonly kind: "ls-refs"; readonly asked: LsRefs }
  /** Another command, which is git's to answer: what was fed is to be given to it from the beginning. */
  | { readonly kind: "other"; readonly command: string }
  /** Only a flush: nothing is asked, and an empty answer is right. */
  | { readonly kind: "nothing" }
  /** `text` follows `ERR `. */
  | { readonly kind: "problem"; readonly text: string };

const MORE: V2Step = { kind: "more" };
const IGNORED = ["agent=", "session-id=", "server-option="];

/** A request to `git-upload-pack` in protocol 2, as far as it is `ls-refs`; fed until a step is not `more`. */
export class LsRefsReader {
  readonly #format: ObjectFormat;
  readonly #lines = new PktDecoder();
  readonly #prefixes: string[] = [];
  #prefixCount = 0;
  #section: "command" | "capabilities" | "arguments" = "command";
  #peel = false;
  #symrefs = false;
  #unborn = false;
  #last: V2Step = MORE;

  /** `format`: of the repository; a client that speaks another is refused, as git does. */
  constructor(format: ObjectFormat) {
    this.#format = format;
  }

  feed(chunk: Uint8Array): V2Step {
    if (this.#last.kind !== "more") return this.#last;
    this.#lines.feed(chunk);
    for (let pkt = this.#lines.next(); pkt !== undefined; pkt = this.#lines.next()) {
      if (this.#lines.consumed > BYTES_MAX) return this.#refuse("the request is too long");
      let step: V2Step;
      if (pkt.kind === "data") step = this.#text(fromUtf8(pkt.data)?.replace(/\n$/, ""));
      else if (pkt.kind === "flush") step = this.#flush();
      else if (pkt.kind === "delim" && this.#section === "capabilities") step = this.#arguments();
      else step = this.#refuse("the request is not made of pkt-lines");
      if (step.kind !== "more") return (this.#last = step);
    }
    return MORE;
  }

  /** The body is over. */
  end(): V2Step {
    return this.#last.kind === "more" ? this.#refuse("the request ends before its flush") : this.#last;
  }

  #text(line: string | undefined): V2Step {
    if (line === undefined) return this.#refuse("the request is not UTF-8");
    switch (this.#section) {
      case "command":
        return this.#command(line);
      case "capabilities":
        return this.#capability(line);
      case "arguments":
        return this.#argument(line);
    }
  }

  #command(line: string): V2Step {
    if (line !== "command=ls-refs") return { kind: "other", command: /^command=([a-z-]{1,32})$/.exec(line)?.[1] ?? "unknown" };
    this.#section = "capabilities";
    return MORE;
  }

  #capability(line: string): V2Step {
    if (line.startsWith("object-format=")) {
      return line === `object-format=${this.#format}` ? MORE : this.#refuse(`the repository's object format is ${this.#format}`);
    }
    return IGNORED.some((prefix) => line.startsWith(prefix)) ? MORE : this.#refuse("unknown capability");
  }

  #arguments(): V2Step {
    this.#section = "arguments";
    return MORE;
  }

  #argument(line: string): V2Step {
    if (line === "peel") this.#peel = true;
    else if (line === "symrefs") this.#symrefs = true;
    else if (line === "unborn") this.#unborn = true;
    else if (line.startsWith("ref-prefix ")) {
      if (++this.#prefixCount <= PREFIXES_MAX) this.#prefixes.push(line.slice("ref-prefix ".length));
    } else return this.#refuse("unexpected line");
    return MORE;
  }

  #flush(): V2Step {
    if (this.#section === "command") return { kind: "nothing" };
    const prefixes = this.#prefixCount > PREFIXES_MAX ? [] : this.#prefixes;
    return { kind: "ls-refs", asked: { peel: this.#peel, symrefs: this.#symrefs, unborn: this.#unborn, prefixes } };
  }

  #refuse(text: string): V2Step {
    this.#last = { kind: "problem", text: `upload-pack: ${text}` };
    return this.#last;
  }
}
