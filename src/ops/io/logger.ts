import { pino } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { Log, LogFields, LogLineLevel } from "../log.ts";
import { printable } from "../printable.ts";
import { textLine } from "../text-line.ts";

export interface LoggerOptions {
  readonly level: "trace" | LogLineLevel | "silent";
  readonly format: "text" | "json";
  readonly clock: Clock;
  /** Standard output, but for tests. */
  readonly write?: (line: string) => void;
}

const STRING_MAX = 4_000;

/** Lines for people or for machines. What strangers wrote reaches neither with anything that moves a cursor or begins a new line. */
export function createLogger({ level, format, clock, write = (line) => process.stdout.write(line) }: LoggerOptions): Log {
  const sink = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${timeText(clock)}"`,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  if (format === "json") return { write: (lineLevel, message, fields) => sink[lineLevel](clean(fields), printable(message, STRING_MAX)) };
  return {
    write: (lineLevel, message, fields) => {
      if (sink.isLevelEnabled(lineLevel)) write(textLine(timeText(clock), lineLevel, message, fields));
    },
  };
}

const timeText = (clock: Clock): string => new Date(clock.now()).toISOString();

function clean(fields: LogFields = {}): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? printable(value, STRING_MAX) : value]),
  );
}
