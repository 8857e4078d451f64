import { limitSettings } from "./limits.ts";
import { listSettings, networkSettings, serviceSettings, storageSettings } from "./service.ts";
import type { Setting } from "./setting.ts";
import { deletionSettings, opsSettings, timingSettings } from "./upkeep.ts";

/** Every setting there is. What is derived from another setting stands below it. */
export const settings = {
  network: networkSettings,
  service: serviceSettings,
  storage: storageSettings,
  lists: listSettings,
  limits: limitSettings,
  timing: timingSettings,
  deletion: deletionSettings,
  ops: opsSettings,
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Group<G> = { readonly [K in keyof G]: ValueOf<G[K]> };

/** What the table says, as a type: `config.limits.maxConnections`. */
export type Config = { readonly [G in keyof typeof settings]: Group<(typeof settings)[G]> };

export interface Row {
  readonly group: string;
  readonly key: string;
  /** In a file; `--name` as a flag. */
  readonly name: string;
  readonly env: string;
  /** Full names, `NGIT_…`. */
  readonly ngit: readonly string[];
  readonly setting: Setting<unknown>;
}

/** A time is written with its unit, so its name does not repeat it. */
const kebab = (key: string): string => key.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function rowsOf(group: string, members: object): Row[] {
  return Object.entries(members as Record<string, Setting<unknown>>).map(([key, setting]) => {
    const name = kebab(key);
    return {
      group,
      key,
      name,
      env: `HOLDFAST_${name.toUpperCase().replaceAll("-", "_")}`,
      ngit: setting.ngit.map((short) => `NGIT_${short}`),
      setting,
    };
  });
}

export const rows: readonly Row[] = Object.entries(settings).flatMap(([group, members]) => rowsOf(group, members));
