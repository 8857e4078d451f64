import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { presetNames } from "./peers.ts";

export const USAGE = `npm run bench:relay -- [options] <ws url>…

Measures relays side by side; ratios are to the first. Relays are given by URL, by preset or by command, in this order:
  <ws url>              a relay that runs; --pid <n>, in the order of the URLs, lets its CPU and memory be read
  --peer <name>         started by the bench: ${presetNames().join(", ")}
                        (programs from NGIT_GRASP_BIN, STRFRY_BIN or the PATH; holdfast needs npm run build)
  --start '<command>'   started by the bench; {port} and {dir} are filled in
  --name <name>         names, in the order above
Sizes:
  --quick               everything small: about a minute for two relays
  --rounds <n>          rounds per measurement, the median is told (5)
  --publish <n>         events per publishing round (8000)
  --stored <n>          events of about 1 KB that queries range over (500000)
  --queries <n>         REQs per connection, shape and round (250)
  --subscribers <n>     live subscribers (1000)
  --neg-items <n>       events on each side of the NIP-77 reconciliation, and for start-up (1000000)
  --neg-differences <n> how many of them differ (1000)
Other:
  --phases <list>       of publish,query,fanout,negentropy,startup (all)
  --preloaded           the relays hold the stored sets already; do not publish them again
  --seed <text>         another world of keys and events
  --cache <dir>         where signed events are kept (.holdfast/bench)
  --dir <dir>           data of started relays, kept afterwards (a temporary directory, removed)
  --json <file>         all readings of all rounds
`;

export const PHASES = ["publish", "query", "fanout", "negentropy", "startup"] as const;
export type Phase = (typeof PHASES)[number];

export interface Options {
  readonly urls: readonly string[];
  readonly pids: readonly number[];
  readonly peers: readonly string[];
  readonly starts: readonly string[];
  readonly names: readonly string[];
  readonly rounds: number;
  readonly publishEvents: number;
  readonly stored: number;
  readonly queries: number;
  readonly subscribers: number;
  readonly negItems: number;
  readonly negDifferences: number;
  readonly phases: ReadonlySet<Phase>;
  readonly preloaded: boolean;
  readonly seed: string;
  readonly cacheDir: string;
  readonly dir: string | undefined;
  readonly json: string | undefined;
}

const FULL = { rounds: 5, publish: 8_000, stored: 500_000, queries: 250, subscribers: 1_000, items: 1_000_000, differences: 1_000 };
const QUICK = { rounds: 3, publish: 1_000, stored: 5_000, queries: 40, subscribers: 100, items: 5_000, differences: 100 };

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The options, or a sentence that says what is wrong with them. */
export function readOptions(argv: readonly string[]): Options | string {
  const text = { type: "string" } as const;
  const list = { type: "string", multiple: true } as const;
  const flag = { type: "boolean" } as const;
  let parsed: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        pid: list,
        peer: list,
        start: list,
        name: list,
        quick: flag,
        rounds: text,
        publish: text,
        stored: text,
        queries: text,
        subscribers: text,
        "neg-items": text,
        "neg-differences": text,
        phases: text,
        preloaded: flag,
        seed: text,
        cache: text,
        dir: text,
        json: text,
        help: flag,
      },
    });
  try {
    parsed = parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { values, positionals } = parsed;
  if (values.help === true) return USAGE;
  const sizes = values.quick === true ? QUICK : FULL;
  const wrong: string[] = [];
  const whole = (name: string, given: string | undefined, fallback: number): number => {
    const value = given === undefined ? fallback : Number(given.replaceAll("_", ""));
    if (!Number.isSafeInteger(value) || value < 1) wrong.push(`--${name} must be a whole number from 1 on`);
    return value;
  };
  const phases = values.phases?.split(",") ?? [...PHASES];
  for (const phase of phases) if (!isPhase(phase)) wrong.push(`there is no phase "${phase}"; there are ${PHASES.join(", ")}`);
  for (const url of positionals) if (!/^wss?:\/\//.test(url)) wrong.push(`${url} is not a ws:// or wss:// URL`);
  // It becomes part of file names.
  if (!/^[\w-]*$/.test(values.seed ?? "")) wrong.push("--seed takes letters, digits, - and _");
  for (const peer of values.peer ?? [])
    if (!presetNames().includes(peer)) wrong.push(`there is no preset "${peer}"; there are ${presetNames().join(", ")}`);
  const options: Options = {
    urls: positionals,
    pids: (values.pid ?? []).map((pid) => whole("pid", pid, 0)),
    peers: values.peer ?? [],
    starts: values.start ?? [],
    names: values.name ?? [],
    rounds: whole("rounds", values.rounds, sizes.rounds),
    publishEvents: whole("publish", values.publish, sizes.publish),
    stored: whole("stored", values.stored, sizes.stored),
    queries: whole("queries", values.queries, sizes.queries),
    subscribers: whole("subscribers", values.subscribers, sizes.subscribers),
    negItems: whole("neg-items", values["neg-items"], sizes.items),
    negDifferences: whole("neg-differences", values["neg-differences"], sizes.differences),
    phases: new Set(phases.filter(isPhase)),
    preloaded: values.preloaded === true,
    seed: values.seed ?? "bench",
    cacheDir: values.cache ?? join(ROOT, ".holdfast", "bench"),
    dir: values.dir,
    json: values.json,
  };
  if (options.urls.length + options.peers.length + options.starts.length === 0) wrong.push("no relay was named; --help tells how");
  return wrong.length > 0 ? wrong.join("\n") : options;
}

const isPhase = (text: string): text is Phase => (PHASES as readonly string[]).includes(text);
