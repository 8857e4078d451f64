import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import { invariant } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Labels, Meters } from "../meters.ts";
import { METRICS, type Metric, type MetricName } from "../metric-names.ts";

export interface PrometheusOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly commit: string;
  /** Numbers that are looked up when somebody asks, not kept. */
  readonly onScrape?: (meters: Meters) => void;
}

export interface Prometheus {
  readonly meters: Meters;
  /** The text of `/metrics`. */
  text(): Promise<string>;
}

type Series = { readonly inc: (by: number) => void } | { readonly observe: (value: number) => void };

export function createPrometheus({ clock, version, commit, onScrape }: PrometheusOptions): Prometheus {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const started = clock.now();

  const counters = new Map<string, Counter<string>>();
  const gauges = new Map<string, Gauge<string>>();
  const histograms = new Map<string, Histogram<string>>();
  for (const [name, { type, help, labels, buckets }] of Object.entries<Metric>(METRICS)) {
    if (name === "ngit_build_info") continue;
    const shared = { name, help, labelNames: Object.keys(labels ?? {}), registers: [registry] };
    if (type === "counter") counters.set(name, new Counter(shared));
    else if (type === "gauge") gauges.set(name, new Gauge(shared));
    else histograms.set(name, new Histogram({ ...shared, ...(buckets === undefined ? {} : { buckets: [...buckets] }) }));
  }
  const build = new Gauge({
    name: "ngit_build_info",
    help: METRICS.ngit_build_info.help,
    labelNames: ["version", "commit"],
    registers: [registry],
  });
  build.set({ version, commit }, 1);

  /** Looking a series up by its labels costs more than counting, so each is looked up once; the catalogue bounds how many there are. */
  const series = new Map<string, Series>();
  const seriesOf = <T extends Series>(name: MetricName, labels: Labels, find: () => T): T => {
    const id = `${name}|${Object.values(labels).join("|")}`;
    const known = series.get(id);
    if (known !== undefined) return known as T;
    invariant(isAllowed(name, labels), `${name} has no such label value`);
    const found = find();
    series.set(id, found);
    return found;
  };

  const none: Labels = {};
  const meters: Meters = {
    count(name, labels = none, by = 1) {
      seriesOf(name, labels, () => {
        const counter = must(counters.get(name), name);
        return { inc: Object.keys(labels).length === 0 ? (n) => counter.inc(n) : counterInc(counter.labels(labels)) };
      }).inc(by);
    },
    set: (name, value) => must(gauges.get(name), name).set(value),
    observe(name, value, labels = none) {
      seriesOf(name, labels, () => {
        const histogram = must(histograms.get(name), name);
        const child = Object.keys(labels).length === 0 ? histogram : histogram.labels(labels);
        return { observe: (v: number) => child.observe(v) };
      }).observe(value);
    },
  };

  return {
    meters,
    text() {
      meters.set("ngit_uptime_seconds", (clock.now() - started) / 1_000);
      onScrape?.(meters);
      return registry.metrics();
    },
  };
}

const counterInc =
  (child: { inc(by: number): void }) =>
  (by: number): void =>
    child.inc(by);

/** No label value but those of the catalogue: a stranger's text would make a new series each time. */
function isAllowed(name: MetricName, labels: Labels): boolean {
  const allowed: Metric["labels"] = (METRICS as Readonly<Record<string, Metric>>)[name]?.labels ?? {};
  const names = Object.keys(labels);
  return names.length === Object.keys(allowed).length && names.every((label) => allowed[label]?.includes(labels[label] ?? "") === true);
}

function must<T>(value: T | undefined, name: string): T {
  invariant(value !== undefined, `${name} is another type of metric`);
  return value;
}
