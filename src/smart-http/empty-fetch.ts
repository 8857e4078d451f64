import { fromUtf8 } from "../base/bytes.ts";
import { readOid } from "../git/oid.ts";
import { PktDecoder } from "../git/pkt-line.ts";
import { errLine } from "../git/report-status.ts";

const NOTHING = new Uint8Array(0);

/** What git would say to a fetch from a repository without objects: nothing, or that it lacks the first object that is wanted. */
export function emptyFetchAnswer(request: readonly Uint8Array[]): Uint8Array {
  const lines = new PktDecoder();
  for (const chunk of request) {
    lines.feed(chunk);
    for (let pkt = lines.next(); pkt !== undefined; pkt = lines.next()) {
      if (pkt.kind === "malformed") return errLine("upload-pack: the request is not made of pkt-lines", false);
      const wanted = pkt.kind === "data" ? /^want ([0-9a-f]+)/.exec(fromUtf8(pkt.data) ?? "")?.[1] : undefined;
      // grasp.md 7.11: clients look for these words, and then ask the next server.
      if (wanted !== undefined && readOid(wanted) !== undefined) return errLine(`upload-pack: not our ref ${wanted}`, false);
    }
  }
  return NOTHING;
}
