import type { MetricName } from "./metric-names.ts";

export type Labels = Readonly<Record<string, string>>;

/** Where numbers go. Labels must be values that the catalogue allows. */
export interface Meters {
  count(name: MetricName, labels?: Labels, by?: number): void;
  set(name: MetricName, value: number): void;
  observe(name: MetricName, value: number, labels?: Labels): void;
}
