import { toUtf8 } from "../base/bytes.ts";
import { type CapabilityFacts, receiveCapabilities, uploadCapabilities, uploadCapabilitiesV2 } from "./capabilities.ts";
import { type Oid, zeroOid } from "./oid.ts";
import { FLUSH, pktText } from "./pkt-line.ts";
import { headOid, type RefView, sortedRefs } from "./ref-lines.ts";
import type { ProtocolVersion, Service } from "./service.ts";

/** The body of `info/refs?service=git-upload-pack`, from memory (grasp.md 7.15). In protocol 2 it names no refs: those are asked for with `ls-refs`. */
export function uploadAdvertisement(view: RefView, agent: string, version: ProtocolVersion): Uint8Array<ArrayBuffer> {
  const facts: CapabilityFacts = { format: view.format, agent };
  if (version === 2) return toUtf8([...["version 2", ...uploadCapabilitiesV2(facts)].map((line) => pktText(`${line}\n`)), FLUSH].join(""));
  const head = headOid(view.refs);
  const lines = head === undefined ? [] : [`${head} HEAD`];
  for (const [name, oid] of sortedRefs(view.refs.refs)) {
    lines.push(`${oid} ${name}`);
    const peeled = view.peeled?.get(oid);
    if (peeled !== undefined) lines.push(`${peeled} ${name}^{}`);
  }
  return listing("upload-pack", version, lines, uploadCapabilities(facts, head === undefined ? undefined : view.refs.head), view);
}

/**
 * The body of `info/refs?service=git-receive-pack`. `haves` are tips that a client need not send although no ref here shows them (grasp.md 7.13).
 * git has no push in protocol 2: a client that asks for it is answered in 0.
 */
export function receiveAdvertisement(
  view: RefView,
  haves: readonly Oid[],
  agent: string,
  version: ProtocolVersion,
): Uint8Array<ArrayBuffer> {
  const refs = sortedRefs(view.refs.refs);
  const shown = new Set(refs.map(([, oid]) => oid));
  const unshown = [...new Set(haves)].filter((oid) => !shown.has(oid));
  const lines = [...refs.map(([name, oid]) => `${oid} ${name}`), ...unshown.map((oid) => `${oid} .have`)];
  return listing("receive-pack", version, lines, receiveCapabilities({ format: view.format, agent }), view);
}

/** Capabilities stand behind the first line; where there is none, behind one that is no ref. */
function listing(
  service: Service,
  version: ProtocolVersion,
  lines: readonly string[],
  capabilities: string,
  { format }: RefView,
): Uint8Array<ArrayBuffer> {
  const [first = `${zeroOid(format)} capabilities^{}`, ...others] = lines;
  const parts = [pktText(`# service=git-${service}\n`), FLUSH];
  if (version === 1) parts.push(pktText("version 1\n"));
  parts.push(pktText(`${first}\0${capabilities}\n`));
  for (const line of others) parts.push(pktText(`${line}\n`));
  parts.push(FLUSH);
  return toUtf8(parts.join(""));
}
