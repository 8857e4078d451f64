import type { ObjectFormat } from "./oid.ts";

/** What a client asked for behind the NUL of its first command. */
export interface PushCapabilities {
  readonly reportStatus: boolean;
  readonly sideBand64k: boolean;
  readonly atomic: boolean;
  readonly quiet: boolean;
  readonly deleteRefs: boolean;
  /** SHA-1 unless it says otherwise: older clients do not name it. */
  readonly objectFormat: ObjectFormat;
  readonly agent: string | undefined;
}

export const NO_CAPABILITIES: PushCapabilities = {
  reportStatus: false,
  sideBand64k: false,
  atomic: false,
  quiet: false,
  deleteRefs: false,
  objectFormat: "sha1",
  agent: undefined,
};

/** `push-options` would put one more section before the pack, and an unknown format makes every id unreadable. The rest is ignored, as git does. */
export type CapabilityProblem = "push-options" | "object-format";

/** An agent is only ever logged. */
const AGENT_LENGTH_MAX = 256;

/** Several clients begin the list with a space, as git once did. */
export function readPushCapabilities(text: string): PushCapabilities | CapabilityProblem {
  const words = new Set(text.split(" ").filter((word) => word !== ""));
  if (words.has("push-options")) return "push-options";
  const formats = [...words].filter((word) => word.startsWith("object-format=")).map((word) => word.slice("object-format=".length));
  const [objectFormat = "sha1"] = formats;
  if (formats.length > 1 || (objectFormat !== "sha1" && objectFormat !== "sha256")) return "object-format";
  const agent = [...words].find((word) => word.startsWith("agent="));
  return {
    reportStatus: words.has("report-status"),
    sideBand64k: words.has("side-band-64k"),
    atomic: words.has("atomic"),
    quiet: words.has("quiet"),
    deleteRefs: words.has("delete-refs"),
    objectFormat,
    agent: agent?.slice("agent=".length, "agent=".length + AGENT_LENGTH_MAX),
  };
}
