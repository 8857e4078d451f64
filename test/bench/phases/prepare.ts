import { type Bench, freshFrames, fromList, guarded, type Target } from "../bench.ts";
import { type EventFile, FrameReader } from "../event-file.ts";
import { publish } from "../load.ts";
import { acceptRepository } from "../repository.ts";
import type { Row } from "../sheet.ts";

/** More than any limit per minute that relays are known to set for one connection. */
const PROBE_EVENTS = 150;
const SECTION = "Bulk load (8 × 32)";
const LOAD = { connections: 8, inFlight: 32 };

/** Gets the load's repository accepted and finds out how many events one connection may send. */
export async function prepareTarget(bench: Bench, target: Target): Promise<void> {
  bench.progress.say(`${target.name}: ${await acceptRepository(target.url, bench.world)}`);
  const frames = freshFrames(bench, PROBE_EVENTS);
  target.perConnection = Number.POSITIVE_INFINITY;
  const probe = await publish({ target, next: fromList(frames), total: frames.length, connections: 1, inFlight: 1 });
  const row: Row = { section: "Acceptance", label: "events one connection may send (– : no limit met)", unit: "events", better: "more" };
  if (probe.accepted === 0) {
    target.lost = probe.reason ?? "no event of the load was accepted";
    bench.sheet.note(target.name, row, target.lost);
    bench.progress.say(`${target.name}: accepts nothing: ${target.lost}`);
    return;
  }
  if (probe.refused > 0) {
    target.perConnection = probe.accepted;
    bench.sheet.add(target.name, row, probe.accepted);
    bench.sheet.note(
      target.name,
      row,
      `then "${probe.reason}"; the driver goes on with fresh connections, opened ahead of the measurement`,
    );
    bench.progress.say(`${target.name}: ${probe.accepted} events per connection, then ${probe.reason}`);
  }
}

/** Publishes a set through the EVENT door. What is there already counts as accepted, so the rate tells something only of an empty relay. */
export async function bulkLoad(bench: Bench, target: Target, file: EventFile, lacks: ReadonlySet<number> = new Set()): Promise<void> {
  const total = file.set.count - lacks.size;
  const name = `${total.toLocaleString("en")} ${file.set.size} events`;
  const row = (what: string, unit: string, better: Row["better"]): Row => ({ section: SECTION, label: `${name}${what}`, unit, better });
  await guarded(bench, target, `loading ${name}`, async () => {
    using reader = new FrameReader(file, (position) => !lacks.has(position));
    const onProgress = (answered: number): void => bench.progress.count(`${target.name}: loading ${name}`, answered, total);
    const result = await publish({ target, next: () => reader.next(), total, ...LOAD, onProgress });
    const rate = row("", "events/s", "more");
    if (result.reason !== undefined) bench.sheet.note(target.name, rate, `${result.refused} of ${total} refused: ${result.reason}`);
    if (result.accepted === 0) return;
    bench.sheet.add(target.name, rate, result.accepted / result.seconds);
    const { serverCpuS, driverCpuS } = result.spent;
    const perEvent = 1e6 / result.accepted;
    if (serverCpuS !== undefined) bench.sheet.add(target.name, row(", relay CPU", "µs/event", "less"), serverCpuS * perEvent);
    bench.sheet.add(target.name, row(", driver CPU", "µs/event", "less"), driverCpuS * perEvent);
  });
}
