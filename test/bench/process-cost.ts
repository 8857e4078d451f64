import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a server has used so far, its threads and child processes included. */
export interface Cost {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Without pages of mapped files, which the kernel may take back at any time. */
  readonly anonymousBytes: number;
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Undefined where there is no /proc, or no such process any more. */
export function costOf(pid: number): Cost | undefined {
  try {
    let ticks = 0;
    let rssBytes = 0;
    let anonymousBytes = 0;
    for (const member of treeOf(pid)) {
      const fields = statFields(member);
      // utime, stime, and those of children that were waited for.
      for (const field of [11, 12, 13, 14]) ticks += Number(fields[field]);
      const status = readFileSync(`/proc/${member}/status`, "utf8");
      rssBytes += kilobytes(status, "VmRSS") * 1024;
      anonymousBytes += kilobytes(status, "RssAnon") * 1024;
    }
    return { cpuSeconds: ticks / TICKS_PER_SECOND, rssBytes, anonymousBytes };
  } catch {
    return undefined;
  }
}

/** Bytes that files below a directory really occupy (sparse files count what is written). */
export function diskBytes(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) bytes += diskBytes(child);
    else if (entry.isFile()) bytes += statSync(child).blocks * 512;
  }
  return bytes;
}

/** The fields after the command's name, which may itself contain spaces and brackets. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function treeOf(root: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      const parent = Number(statFields(pid)[1]);
      childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid]);
    } catch {
      // Ended while we looked.
    }
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []));
  return tree;
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
}
