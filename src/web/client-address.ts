import { type Cidr, type Ip, type IpText, inCidr, isLoopback, readIp, showIp } from "./ip.ts";

export interface ClientAddress {
  /** For logs and for telling clients apart; `unknown` when the socket was gone before it could be asked. */
  readonly ip: IpText | "unknown";
  /** What limits per address count by; absent for those that are not limited so. */
  readonly limitKey: string | undefined;
}

/** Header names in lower case; what node:http joins from several lines is joined by commas. */
export interface ForwardingHeaders {
  readonly [name: string]: string | readonly string[] | undefined;
}

const HOUSEHOLD_BITS = 64;

/** An IPv6 household has 2^64 addresses, so it counts as one. Loopback and trusted proxies stand for many clients, so they are not limited. */
function limitKeyOf(ip: Ip, trusted: readonly Cidr[]): string | undefined {
  if (isLoopback(ip) || isTrusted(ip, trusted)) return undefined;
  if (ip.bits === 32) return showIp(ip);
  const free = BigInt(128 - HOUSEHOLD_BITS);
  return `${showIp({ bits: 128, value: (ip.value >> free) << free })}/${HOUSEHOLD_BITS}`;
}

const isTrusted = (ip: Ip, trusted: readonly Cidr[]): boolean => trusted.some((cidr) => inCidr(ip, cidr));

/** grasp.md 2.3: who really sent this. Headers count only behind a trusted proxy, walked from the right to the first that is not one. */
export function clientAddress(peer: string | undefined, headers: ForwardingHeaders, trusted: readonly Cidr[]): ClientAddress {
  const socket = readIp(peer ?? "");
  if (socket === undefined) return { ip: "unknown", limitKey: undefined };
  const ip = isTrusted(socket, trusted) ? (walk(headers, trusted) ?? socket) : socket;
  return { ip: showIp(ip), limitKey: limitKeyOf(ip, trusted) };
}

/** Only what is walked over must be well-formed: what stands further left, the client may have written itself. */
function walk(headers: ForwardingHeaders, trusted: readonly Cidr[]): Ip | undefined {
  let last: Ip | undefined;
  for (const text of hops(headers).toReversed()) {
    const ip = readHop(text);
    if (ip === undefined) return undefined;
    if (!isTrusted(ip, trusted)) return ip;
    last = ip;
  }
  return last;
}

function hops(headers: ForwardingHeaders): readonly string[] {
  const forwardedFor = textOf(headers["x-forwarded-for"]);
  if (forwardedFor !== undefined) return forwardedFor.split(",");
  const forwarded = textOf(headers["forwarded"]);
  if (forwarded !== undefined) return splitOutsideQuotes(forwarded, ",").map(forParameter);
  const real = textOf(headers["x-real-ip"]);
  return real === undefined ? [] : [real];
}

const textOf = (value: string | readonly string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(",") : (value as string | undefined);

/** RFC 7239: `for=192.0.2.1;proto=https`. No `for` gives a text that is no address. */
function forParameter(element: string): string {
  for (const pair of splitOutsideQuotes(element, ";")) {
    const parts = /^\s*for\s*=\s*(?:"([^"]*)"|([^\s"]*))\s*$/i.exec(pair);
    if (parts !== null) return parts[1] ?? parts[2] ?? "";
  }
  return "";
}

function splitOutsideQuotes(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    else if (text[i] === separator && !quoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** An address, perhaps in brackets, perhaps with a port. */
function readHop(text: string): Ip | undefined {
  const plain = text.trim();
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(plain)?.[1];
  if (bracketed !== undefined) return readIp(bracketed);
  return readIp(/^([\d.]+):\d{1,5}$/.exec(plain)?.[1] ?? plain);
}
