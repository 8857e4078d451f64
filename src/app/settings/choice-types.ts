import type { PublicKey } from "../../nostr/event.ts";
import { decodeNpub, encodeNpub } from "../../nostr/npub.ts";
import type { RepositoryRule } from "../../policy/rules.ts";
import { readKey } from "./key-text.ts";
import type { ValueType } from "./setting.ts";
import { bad, choice, good, whole } from "./value-types.ts";

const RULE_EXPECTED = "`<npub>`, `<npub>/<identifier>` or `<identifier>`";

export const repositoryRule: ValueType<RepositoryRule> = {
  describe: RULE_EXPECTED,
  read: (written) => {
    const slash = written.indexOf("/");
    const head = slash < 0 ? written : written.slice(0, slash);
    const identifier = slash < 0 ? undefined : written.slice(slash + 1);
    // A damaged npub or a hex key read as an identifier would be a rule that silently matches nothing.
    if (!/^npub1|^[0-9a-f]{64}$/i.test(head))
      return written === "" ? bad(RULE_EXPECTED) : good({ kind: "identifier", identifier: written });
    const owner = decodeNpub(head);
    if (owner === undefined) return bad(`a valid npub; a rule is ${RULE_EXPECTED}`);
    if (identifier === "") return bad(RULE_EXPECTED);
    return good(identifier === undefined ? { kind: "owner", owner } : { kind: "repository", owner, identifier });
  },
  show: (rule) => {
    if (rule.kind === "identifier") return rule.identifier;
    return rule.kind === "owner" ? encodeNpub(rule.owner) : `${encodeNpub(rule.owner)}/${rule.identifier}`;
  },
};

export const publicKey: ValueType<PublicKey> = {
  describe: "an npub or 64 hex digits",
  read: (written) => {
    const key = readKey(written);
    return key === undefined ? bad("an npub or 64 lower-case hex digits") : good(key);
  },
  show: encodeNpub,
};

const stores = choice("disk", "memory");
export type StoreKind = "disk" | "memory";

export const store: ValueType<StoreKind> = {
  ...stores,
  read: (written) =>
    written.toLowerCase() === "lmdb"
      ? good("disk", "there is no LMDB here, so it is read as `disk`: SQLite in the relay data path")
      : stores.read(written),
};

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
const levels = choice(...LOG_LEVELS);

export const logLevel: ValueType<LogLevel> = {
  ...levels,
  read: (written) => {
    const bare = levels.read(written.trim());
    if (bare.ok) return bare;
    if (written.trim().toLowerCase() === "off") return good("silent");
    // `warn,ngit_grasp=debug`: per-module levels mean nothing here, the bare one does.
    if (!/^[\w:=,\s]+$/.test(written) || !/[=,]/.test(written)) return levels.read(written);
    const words = written.split(",").map((part) => part.trim());
    const level = words.map((word) => levels.read(word)).find((read) => read.ok)?.value ?? "info";
    return good(level, `levels of single modules are not known here, so it is read as \`${level}\``);
  },
};

const count = whole({ min: 1, max: 64, example: 2 });

export const workers: ValueType<number | "auto"> = {
  describe: "`auto` or a whole number from 1 to 64",
  read: (written) => {
    if (written.trim().toLowerCase() === "auto") return good("auto");
    const read = count.read(written);
    return read.ok ? read : bad("`auto` or a whole number from 1 to 64, for example 2");
  },
  show: String,
};
