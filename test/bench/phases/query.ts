import { Asker } from "../asker.ts";
import { type Bench, interleaved, measured } from "../bench.ts";
import { Chance, Zipf } from "../chance.ts";
import { type EventFile, recordAt } from "../event-file.ts";
import { LOAD_KINDS } from "../events.ts";
import { quantile, type Row } from "../sheet.ts";

const CONNECTIONS = 4;

interface Shape {
  readonly name: string;
  readonly filter: (bench: Bench, file: EventFile, chance: Chance) => object;
}

const ranks = new Zipf(500);
const authors = (bench: Bench, chance: Chance): string[] =>
  Array.from({ length: 10 }, () => bench.world.authorHex(chance.below(2) === 0 ? ranks.draw(chance) : chance.below(2_000)));

/** The questions GRASP clients and peers really ask, and one that finds nothing. */
const SHAPES: readonly Shape[] = [
  { name: "#a limit 100", filter: ({ world }, _, chance) => ({ "#a": [world.mentioned[ranks.draw(chance)]], limit: 100 }) },
  { name: "kinds limit 50", filter: (_bench, _file, chance) => ({ kinds: [chance.pick(LOAD_KINDS)], limit: 50 }) },
  { name: "10 authors limit 50", filter: (bench, _, chance) => ({ authors: authors(bench, chance), limit: 50 }) },
  {
    name: "20 ids",
    filter: (_, file, chance) => ({
      ids: Array.from({ length: 20 }, () => recordAt(file, chance.below(file.set.count)).id.toString("hex")),
    }),
  },
  {
    name: "authors × kinds in a tenth of the time, limit 100",
    filter(bench, { set }, chance) {
      const since = set.from + Math.floor(chance.next() * 0.9 * set.spanS);
      return { authors: authors(bench, chance), kinds: [1111, 1621], since, until: since + Math.floor(set.spanS / 10), limit: 100 };
    },
  },
  {
    name: "nothing found",
    filter: (_bench, _file, chance) => ({
      kinds: [1111],
      "#e": [Buffer.from(Array.from({ length: 32 }, () => chance.below(256))).toString("hex")],
    }),
  },
];

/** REQ until EOSE over stored events: four clients, each asking the next thing when the last is answered. */
export async function queryPhase(bench: Bench, file: EventFile): Promise<void> {
  for (const shape of SHAPES) {
    const row = (label: string, unit: string, better: Row["better"]): Row => ({
      section: `REQ → EOSE over ${file.set.count.toLocaleString("en")} stored events (4 connections)`,
      label: `${shape.name}${label}`,
      unit,
      better,
    });
    await interleaved(bench, `querying ${shape.name}`, async (target, round) => {
      const chance = new Chance(`${bench.world.seed}:${shape.name}:${round}`);
      const filters = Array.from({ length: CONNECTIONS }, () =>
        Array.from({ length: bench.options.queries }, () => JSON.stringify(shape.filter(bench, file, chance))),
      );
      const askers = await Promise.all(filters.map((list) => Asker.open(target.url, list)));
      const began = performance.now();
      const { result, spent } = await measured(target, async () => {
        await Promise.all(askers.map((asker) => asker.run()));
        return (performance.now() - began) / 1000;
      });
      for (const asker of askers) asker.close();
      const latencies = askers.flatMap((asker) => asker.latenciesMs);
      const refused = askers.find((asker) => asker.refusal !== undefined)?.refusal;
      if (refused !== undefined) bench.sheet.note(target.name, row("", "REQ/s", "more"), refused);
      if (latencies.length === 0) return;
      bench.sheet.add(target.name, row("", "REQ/s", "more"), latencies.length / result);
      bench.sheet.add(target.name, row(", p50", "ms", "less"), quantile(latencies, 0.5));
      bench.sheet.add(target.name, row(", p99", "ms", "less"), quantile(latencies, 0.99));
      const events = askers.reduce((sum, asker) => sum + asker.events, 0);
      bench.sheet.add(target.name, row(", found", "events/REQ", "more"), events / latencies.length);
      if (spent.serverCpuS !== undefined) {
        bench.sheet.add(target.name, { ...row(", relay CPU", "µs/REQ", "less"), mean: true }, (spent.serverCpuS * 1e6) / latencies.length);
      }
    });
  }
}
