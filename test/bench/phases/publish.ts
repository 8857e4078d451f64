import { type Bench, freshFrames, fromList, interleaved } from "../bench.ts";
import { publish } from "../load.ts";
import { quantile, type Row } from "../sheet.ts";

const SHAPES = [
  { connections: 1, inFlight: 1, share: 0.1 },
  { connections: 8, inFlight: 16, share: 1 },
  { connections: 32, inFlight: 32, share: 1.5 },
] as const;

/** How quickly new events are taken and answered: alone, with the crowd of a usual day, and with a flood. */
export async function publishPhase(bench: Bench, stored: number): Promise<void> {
  const section = stored === 0 ? "EVENT → OK" : `EVENT → OK, with ${stored.toLocaleString("en")} events stored`;
  for (const { connections, inFlight, share } of SHAPES) {
    const name = `${connections} × ${inFlight}`;
    const row = (label: string, unit: string, better: Row["better"]): Row => ({
      section,
      label: `${name} ${label}`,
      unit,
      better,
    });
    const rate = row("in flight", "events/s", "more");
    const frames: Buffer[][] = [];
    await interleaved(bench, `publishing ${name}`, async (target, round) => {
      const list = (frames[round] ??= freshFrames(bench, Math.max(20, Math.round(bench.options.publishEvents * share))));
      const result = await publish({ target, next: fromList(list), total: list.length, connections, inFlight });
      if (result.reason !== undefined) bench.sheet.note(target.name, rate, `${result.refused} of ${list.length} refused: ${result.reason}`);
      if (result.accepted === 0) return;
      bench.sheet.add(target.name, rate, result.accepted / result.seconds);
      if (result.latenciesMs.length > 0) {
        bench.sheet.add(target.name, row("p50", "ms", "less"), quantile(result.latenciesMs, 0.5));
        bench.sheet.add(target.name, row("p99", "ms", "less"), quantile(result.latenciesMs, 0.99));
      }
      const perEvent = 1e6 / result.accepted;
      const { serverCpuS, driverCpuS } = result.spent;
      if (serverCpuS !== undefined)
        bench.sheet.add(target.name, { ...row("relay CPU", "µs/event", "less"), mean: true }, serverCpuS * perEvent);
      bench.sheet.add(target.name, { ...row("driver CPU", "µs/event", "less"), mean: true }, driverCpuS * perEvent);
    });
  }
}
