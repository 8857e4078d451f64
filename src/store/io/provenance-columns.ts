import type { EventId } from "../../nostr/event.ts";
import { idRank } from "../keys.ts";
import type { Provenance } from "../provenance.ts";
import type { Connection } from "./sqlite-file.ts";

const HOW = ["direct", "live", "catch-up", "daily"] as const;

export const howNumber = (provenance: Provenance): number => HOW.indexOf(provenance.how);

export function readProvenance(db: Connection, id: EventId): Provenance | undefined {
  const row = db
    .prepare<[number, Buffer], { how: number; url: string | null }>(
      "SELECT e.how, r.url FROM event e LEFT JOIN relay r ON r.number = e.relay WHERE e.id_rank = ? AND e.id = ?",
    )
    .get(idRank(id), Buffer.from(id, "hex"));
  return row === undefined ? undefined : provenanceOf(row.how, row.url);
}

export function provenanceOf(number: number, relay: string | null): Provenance {
  const how = HOW[number] ?? "direct";
  return how === "direct" ? { how } : { how, relay: relay ?? "" };
}
