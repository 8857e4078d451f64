import type { Brand } from "../base/brand.ts";

/** An address as a number of 32 or 128 bits. An IPv6 address that only wraps an IPv4 one (`::ffff:a.b.c.d`) is that IPv4 address. */
export interface Ip {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** One way of writing each address, fit for comparing and for keys. */
export type IpText = Brand<string, "IpText">;

function readV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // A leading zero means octal to some readers: refused rather than guessed.
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function readGroups(text: string): readonly bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  for (const part of text.split(":")) {
    if (!/^[0-9a-f]{1,4}$/i.test(part)) return undefined;
    groups.push(BigInt(`0x${part}`));
  }
  return groups;
}

function readV6(text: string): bigint | undefined {
  let plain = text;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted !== null) {
    const v4 = readV4(dotted[2] ?? "");
    if (v4 === undefined) return undefined;
    plain = `${dotted[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = plain.split("::");
  if (halves.length > 2) return undefined;
  const head = readGroups(halves[0] ?? "");
  const tail = readGroups(halves[1] ?? "");
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

const MAPPED = 0xffffn;

/** The address, or `undefined` when this is none. A zone (`%eth0`) is left out: it says which cable, not who. */
export function readIp(text: string): Ip | undefined {
  const v4 = readV4(text);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  if (!text.includes(":")) return undefined;
  const v6 = readV6(text.replace(/%[0-9A-Za-z._-]{1,32}$/, ""));
  if (v6 === undefined) return undefined;
  return v6 >> 32n === MAPPED ? { bits: 32, value: v6 & 0xffff_ffffn } : { bits: 128, value: v6 };
}

export function showIp({ bits, value }: Ip): IpText {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => `${(value >> shift) & 255n}`).join(".") as IpText;
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  // RFC 5952: the longest run of two or more zeros, the first of equals, becomes `::`.
  const zeros = [...groups.join(":").matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].map((m) => m[0]).toSorted((a, b) => b.length - a.length)[0];
  const plain = groups.join(":");
  if (zeros === undefined) return plain as IpText;
  const at = plain.search(new RegExp(`(?:^|(?<=:))${zeros}(?=:|$)`));
  return `${plain.slice(0, at).replace(/:$/, "")}::${plain.slice(at + zeros.length).replace(/^:/, "")}` as IpText;
}

export interface Cidr {
  readonly ip: Ip;
  readonly prefix: number;
}

/** `10.0.0.0/8`, `fd00::/8`, or one address alone. Bits beyond the prefix are cleared. */
export function readCidr(text: string): Cidr | undefined {
  const parts = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const ip = readIp(parts?.[1] ?? "");
  if (parts === null || ip === undefined) return undefined;
  const written = parts[2] === undefined ? undefined : Number(parts[2]);
  // A prefix of a wrapped IPv4 address counts from the 128 bits it was written in.
  const wrapped = ip.bits === 32 && (parts[1] ?? "").includes(":");
  const prefix = written === undefined ? ip.bits : wrapped ? written - 96 : written;
  if (prefix < 0 || prefix > ip.bits) return undefined;
  const free = BigInt(ip.bits - prefix);
  return { ip: { bits: ip.bits, value: (ip.value >> free) << free }, prefix };
}

export const showCidr = ({ ip, prefix }: Cidr): string => `${showIp(ip)}/${prefix}`;

export function inCidr(ip: Ip, cidr: Cidr): boolean {
  if (ip.bits !== cidr.ip.bits) return false;
  const free = BigInt(ip.bits - cidr.prefix);
  return ip.value >> free === cidr.ip.value >> free;
}

const LOOPBACK: readonly Cidr[] = [
  { ip: { bits: 32, value: 0x7f00_0000n }, prefix: 8 },
  { ip: { bits: 128, value: 1n }, prefix: 128 },
];

export const isLoopback = (ip: Ip): boolean => LOOPBACK.some((cidr) => inCidr(ip, cidr));
