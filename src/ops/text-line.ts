import type { LogFields, LogLineLevel } from "./log.ts";
import { printable } from "./printable.ts";

const FIELD_MAX = 300;
/** A stack has lines by nature: the one thing that is shown below its line. */
const STACK_MAX = 4_000;

function shown(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const text = printable(value, FIELD_MAX);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

/** `2026-01-02T03:04:05.678Z info  connection opened connection=7 ip=192.0.2.1` */
export function textLine(time: string, level: LogLineLevel, message: string, fields: LogFields = {}): string {
  const rest = Object.entries(fields)
    .filter(([name, value]) => value !== undefined && name !== "stack")
    .map(([name, value]) => ` ${name}=${shown(value ?? "")}`)
    .join("");
  const stack = typeof fields["stack"] === "string" ? stackBelow(fields["stack"]) : "";
  return `${time} ${level.padEnd(5)} ${printable(message, 2_000)}${rest}${stack}\n`;
}

const stackBelow = (stack: string): string =>
  stack
    .slice(0, STACK_MAX)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `\n    ${printable(line.trim())}`)
    .join("");
