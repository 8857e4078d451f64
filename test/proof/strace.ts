/** One system call of a trace. Places are line numbers: strace writes a line when it sees a call begin or end, so they are an order of events. */
export interface Call {
  readonly name: string;
  /** The file or socket behind the first argument, as `-yy` names it. */
  readonly target: string;
  /** What was written, as bytes in latin1. */
  readonly data: string;
  readonly began: number;
  readonly ended: number;
  readonly result: number;
}

/** What is traced: everything that writes to a file or a socket, and everything that syncs. */
export const TRACED = ["pwrite64", "write", "writev", "pwritev", "sendto", "sendmsg", "fsync", "fdatasync", "sync_file_range"];

/** The longest text that is kept of one call; longer ones end in dots and are refused by `readTrace`. */
const TEXT_MAX = 1_000_000;

export const straceCommand = (file: string): readonly string[] => [
  "strace",
  "-f",
  "--seccomp-bpf",
  "-yy",
  "-tt",
  "-s",
  `${TEXT_MAX}`,
  "-e",
  `trace=${TRACED.join(",")}`,
  "-e",
  "signal=none",
  "-o",
  file,
];

const WHOLE = /^(\d+) +[\d:.]+ (\w+)\(\d+<((?:TCP|TCPv6|UNIX[\w-]*|UDP):\[[^\]]*\]|[^>]*)>(.*)$/;
const RESUMED = /^(\d+) +[\d:.]+ <\.\.\. (\w+) resumed>(.*)$/;
const RESULT = /\) += (-?\d+)[^"]*$/;
const UNFINISHED = " <unfinished ...>";

/** Calls in the order in which they began. One that never ended, because the process was killed, has no place here: it achieved nothing that counts. */
export function readTrace(text: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Omit<Call, "ended" | "result">>();
  for (const [at, line] of text.split("\n").entries()) {
    const resumed = RESUMED.exec(line);
    if (resumed !== null) {
      const [, thread = "", name = "", rest = ""] = resumed;
      const call = open.get(thread);
      open.delete(thread);
      const result = RESULT.exec(rest);
      if (call?.name === name && result !== null) calls.push({ ...call, ended: at, result: Number(result[1]) });
      continue;
    }
    const whole = WHOLE.exec(line);
    if (whole === null) continue;
    const [, thread = "", name = "", target = "", rest = ""] = whole;
    const call = { name, target, data: unquote(rest), began: at };
    if (rest.endsWith(UNFINISHED)) open.set(thread, call);
    else {
      const result = RESULT.exec(rest);
      if (result !== null) calls.push({ ...call, ended: at, result: Number(result[1]) });
    }
  }
  return calls.sort((a, b) => a.began - b.began);
}

const LETTERS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", f: "\f", v: "\v", '"': '"', "\\": "\\" };
const QUOTED = /"((?:[^"\\]|\\.)*)"(\.\.\.)?/g;
const ESCAPE = /\\([0-7]{1,3}|.)/g;

/** All strings of the arguments, one after the other: the pieces of a `writev` are one text. */
function unquote(rest: string): string {
  let text = "";
  for (const [, inner = "", dots] of rest.matchAll(QUOTED)) {
    if (dots !== undefined) throw new Error("the trace cut a text short; what it shows cannot be judged");
    text += inner.includes("\\")
      ? inner.replace(ESCAPE, (_, code: string) => LETTERS[code] ?? String.fromCharCode(Number.parseInt(code, 8)))
      : inner;
  }
  return text;
}
