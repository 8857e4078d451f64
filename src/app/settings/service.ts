import { publicKey, repositoryRule, store } from "./choice-types.ts";
import { basePath, bindAddress, cidr, domain, link, path, showAddress } from "./place-types.ts";
import { setting } from "./setting.ts";
import { choice, listOf, optional, text, whole } from "./value-types.ts";

/** Addresses that mean "every one of mine" and are nobody's name. */
const UNSPECIFIED = new Set(["0.0.0.0", "::", "0:0:0:0:0:0:0:0"]);

const LIST_REASON = "A list is held in memory and looked at for every event, so it is bounded at 100,000 entries.";
const LIST_MAX = 100_000;

export const networkSettings = {
  bindAddress: setting({
    type: bindAddress,
    default: { host: "127.0.0.1", port: 7334 },
    ngit: ["BIND_ADDRESS"],
    meaning: "The address and port to listen on; port 0 takes any free one.",
    reason: "Loopback by default: a fresh server is not on the public network before its operator says so.",
  }),
  trustedProxies: setting({
    type: listOf(cidr, 1_000),
    default: [],
    ngit: ["TRUSTED_PROXY_CIDRS"],
    meaning: "Proxies whose `X-Forwarded-For`, `Forwarded` or `X-Real-IP` header is believed.",
    reason: "Empty by default: a client could otherwise write any address it likes and escape the limits per address.",
  }),
};

export const serviceSettings = {
  domain: setting({
    type: domain,
    derived: {
      from: "`bind-address`",
      derive: ({ bindAddress: { host, port } }) => showAddress({ host: UNSPECIFIED.has(host) ? "localhost" : host, port }),
    },
    ngit: ["DOMAIN"],
    meaning: "The public host name, with its port when that is not the usual one.",
    reason: "Announcements name us by it, so it must be what clients use; the default fits a trial on one machine.",
  }),
  alsoKnownAs: setting({
    type: listOf(domain, 100),
    default: [],
    meaning: "Further domains that count as this server when an announcement names them.",
    reason: "A server that moved or has several names must not look for its own repositories elsewhere.",
  }),
  basePath: setting({
    type: basePath,
    default: "/",
    ngit: ["BASE_PATH"],
    meaning: "The path under which everything is served; what lies outside is not found.",
    reason: "A proxy may give this server a part of a host only.",
  }),
  relayName: setting({
    type: text("a name", 200),
    derived: { from: "`domain`", derive: (settled) => `${settled.domain} grasp relay` },
    ngit: ["RELAY_NAME"],
    meaning: "The name in the relay information document and on the home page.",
    reason: "Some name is needed; the domain tells servers apart.",
  }),
  relayDescription: setting({
    type: text("a description", 5_000),
    default: "A Nostr relay for git: repositories, issues, patches and the talk about them",
    ngit: ["RELAY_DESCRIPTION"],
    meaning: "The description in the relay information document and on the home page.",
    reason: "It is sent to everybody who asks, so it is bounded at 5,000 characters.",
  }),
  relayContact: setting({
    type: optional(text("a contact", 500)),
    default: undefined,
    meaning: "How to reach the operator, best as a `mailto:` or `https:` address.",
    reason: "Not set by default: nobody is named without having been asked.",
  }),
  relayIcon: setting({
    type: optional(link),
    default: undefined,
    meaning: "A link to the icon of this relay.",
    reason: "Without one, the icon that the server itself serves is named.",
  }),
  acceptance: setting({
    type: choice("grasp", "open"),
    default: "grasp",
    meaning: "Which events are taken: `grasp` those that belong to repositories, `open` every valid one.",
    reason: "A GRASP server is no general relay; `open` is for trials and private networks.",
  }),
  maintainerPolicy: setting({
    type: choice("reciprocal", "recursive", "owner-only"),
    default: "reciprocal",
    meaning:
      "Whose states count for a repository: `reciprocal` of keys that are listed and list back, `recursive` of everybody who is listed, `owner-only` of the owner alone. Without effect until git is served.",
    reason:
      "Under `recursive`, inviting a key that has another repository of the same name would hand that key this one (grasp.md 4.1). It is for test suites that want it.",
  }),
  minPowDifficulty: setting({
    type: whole({ min: 0, max: 256, example: 20 }),
    default: 0,
    meaning: "Leading zero bits that an event id must have and commit to (NIP-13); 0 asks for none.",
    reason: "None by default, because git clients do not mine.",
  }),
};

export const storageSettings = {
  dataPath: setting({
    type: path,
    default: "./data",
    meaning: "The parent of both data directories where they are not set themselves.",
    reason: "One volume to mount and one directory to back up.",
  }),
  relayDataPath: setting({
    type: path,
    derived: { from: "`data-path`", derive: (settled) => `${settled.dataPath.replace(/\/+$/, "")}/relay` },
    ngit: ["RELAY_DATA_PATH"],
    meaning: "Where events and the server's key are kept.",
    reason: "May lie on another disk than git data: it is small and written often.",
  }),
  gitDataPath: setting({
    type: path,
    derived: { from: "`data-path`", derive: (settled) => `${settled.dataPath.replace(/\/+$/, "")}/git` },
    ngit: ["GIT_DATA_PATH"],
    meaning: "Where git repositories are kept.",
    reason: "May lie on another disk than events: it is large and mostly read.",
  }),
  store: setting({
    type: store,
    default: "disk",
    ngit: ["DATABASE_BACKEND"],
    meaning: "`disk` keeps events for good, `memory` until the process ends.",
    reason: "Memory is for tests: nothing of it survives a restart.",
  }),
};

export const listSettings = {
  eventBlockList: setting({
    type: listOf(publicKey, LIST_MAX),
    default: [],
    ngit: ["EVENT_BLACKLIST"],
    meaning: "Keys whose events are refused, whatever they are.",
    reason: LIST_REASON,
  }),
  repositoryBlockList: setting({
    type: listOf(repositoryRule, LIST_MAX),
    default: [],
    ngit: ["REPOSITORY_BLACKLIST"],
    meaning: "Repositories that are refused; nothing overrides this list.",
    reason: LIST_REASON,
  }),
  repositoryAllowList: setting({
    type: listOf(repositoryRule, LIST_MAX),
    default: [],
    ngit: ["REPOSITORY_WHITELIST"],
    meaning: "When not empty, only these repositories are taken.",
    reason: LIST_REASON,
  }),
};
