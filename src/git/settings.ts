/** One thing that git is told when it is started, and why. `key` is a configuration key or the name of an environment variable. */
export interface GitSetting {
  readonly key: string;
  readonly value: string;
  readonly why: string;
}

/** The whole environment of every git process but for `PATH`: nothing is inherited, so no proxy, askpass, trace or GIT_DIR of ours comes with it. */
export const ENVIRONMENT: readonly GitSetting[] = [
  { key: "GIT_CONFIG_NOSYSTEM", value: "1", why: "the machine's configuration may name hooks, helpers and rewritten URLs" },
  { key: "GIT_CONFIG_GLOBAL", value: "/dev/null", why: "so may the configuration of the account that we run as" },
  { key: "GIT_ATTR_NOSYSTEM", value: "1", why: "the machine's attributes may name filters and diff drivers" },
  { key: "HOME", value: "/dev/null", why: "no .netrc, no cookies, no configuration below it" },
  { key: "XDG_CONFIG_HOME", value: "/dev/null", why: "the second place where the account's attributes and configuration are looked for" },
  { key: "GIT_TERMINAL_PROMPT", value: "0", why: "nobody is there to answer; a question would hang" },
  { key: "GIT_ASKPASS", value: "", why: "no program is asked either" },
  { key: "SSH_ASKPASS", value: "", why: "the program that is asked when there is no other" },
  { key: "GIT_PROTOCOL_FROM_USER", value: "0", why: "protocols that are only safe when a person typed the URL are refused" },
  { key: "GIT_NO_REPLACE_OBJECTS", value: "1", why: "objects are what their ids say, whatever refs/replace/ holds" },
  { key: "GIT_NO_LAZY_FETCH", value: "1", why: "a missing object is missing; no process goes to the network for it (git 2.44 and newer)" },
  { key: "GIT_OPTIONAL_LOCKS", value: "0", why: "reading takes no lock that a push would meet" },
  { key: "LC_ALL", value: "C", why: "messages are the same everywhere" },
];

/** For every git process. */
export const COMMON: readonly GitSetting[] = [
  { key: "core.hooksPath", value: "/dev/null", why: "no hooks: what happens on a push is decided here" },
  { key: "core.fsmonitor", value: "false", why: "no helper is started beside a repository" },
  { key: "core.attributesFile", value: "/dev/null", why: "no filters or drivers from outside a repository" },
  { key: "safe.directory", value: "*", why: "paths are our own; after a restore the files may belong to another account" },
  { key: "protocol.allow", value: "never", why: "only a process that is to fetch may speak to anyone" },
  { key: "credential.helper", value: "", why: "an empty value forgets every helper: nothing is asked for and nothing is stored" },
  { key: "gc.auto", value: "0", why: "reclaiming is ours, under the pool's lock (7.14); git's own would remove what is waiting" },
  { key: "maintenance.auto", value: "false", why: "the same, for the newer name" },
  { key: "core.fsync", value: "all", why: "packs, indexes and refs are on disk before an event is promoted (7.10)" },
  { key: "core.fsyncMethod", value: "fsync", why: "not writeout-only, which a power cut survives only by luck" },
  { key: "core.bigFileThreshold", value: "64m", why: "larger blobs are streamed and not held in memory, nor compared for deltas" },
  { key: "pack.windowMemory", value: "128m", why: "a window of large blobs does not take the machine's memory" },
  { key: "submodule.recurse", value: "false", why: "a .gitmodules file leads nowhere" },
];

/** `git init --bare`. */
export const INIT: readonly GitSetting[] = [
  { key: "init.templateDir", value: "", why: "no sample hooks, no description: twelve files less for each repository" },
  { key: "init.defaultBranch", value: "master", why: "an empty repository has the unborn HEAD master (5.5)" },
];

/** `git upload-pack`: what uploadCapabilities() promises. */
export const UPLOAD: readonly GitSetting[] = [
  { key: "uploadpack.allowTipSHA1InWant", value: "true", why: "7.3: a tip is fetched by its id" },
  { key: "uploadpack.allowReachableSHA1InWant", value: "true", why: "7.3: web clients fetch single commits by id" },
  { key: "uploadpack.allowFilter", value: "true", why: "7.3: blob:none and tree:0 for web clients" },
  { key: "transfer.hideRefs", value: "refs/", why: "a ref of our own bookkeeping is never listed; the next three are what is served" },
  { key: "transfer.hideRefs", value: "!refs/heads/", why: "served" },
  { key: "transfer.hideRefs", value: "!refs/tags/", why: "served" },
  { key: "transfer.hideRefs", value: "!refs/nostr/", why: "served" },
];

/** `git index-pack`, `git unpack-objects`: objects from outside. */
export const INTAKE: readonly GitSetting[] = [
  { key: "transfer.fsckObjects", value: "true", why: "9.10: malformed objects stop at the door" },
  { key: "transfer.unpackLimit", value: "1", why: "one pack and its index are synced, not thousands of files" },
];

/** `git fetch`, `git ls-remote`: the only processes that speak to others, at an address that was resolved and judged before (9.10). */
export const FETCH: readonly GitSetting[] = [
  ...INTAKE,
  { key: "protocol.http.allow", value: "always", why: "9.10: http and https, nothing else" },
  { key: "protocol.https.allow", value: "always", why: "9.10: http and https, nothing else" },
  { key: "http.followRedirects", value: "false", why: "a redirect could lead to an address that was not judged" },
  { key: "http.proxy", value: "", why: "an empty value is no proxy: the pinned address is where we go" },
  { key: "http.emptyAuth", value: "false", why: "no credentials of the machine are offered" },
  { key: "http.sslVerify", value: "true", why: "whatever a repository's own configuration says" },
  { key: "fetch.recurseSubmodules", value: "false", why: "only what was asked for" },
  { key: "fetch.writeCommitGraph", value: "false", why: "objects that wait are not indexed" },
  { key: "fetch.prune", value: "false", why: "a fetch brings objects; refs move by settling only" },
  { key: "transfer.bundleURI", value: "false", why: "no second source is named by the first" },
];

/** `-c key=value` for each, to stand before the command. */
export const configFlags = (...lists: readonly (readonly GitSetting[])[]): string[] =>
  lists.flat().flatMap(({ key, value }) => ["-c", `${key}=${value}`]);

/** `path` finds git and its helpers; `more` is what a single process needs, such as GIT_PROTOCOL or a quarantine. */
export const gitEnvironment = (path: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...Object.fromEntries(ENVIRONMENT.map(({ key, value }) => [key, value])),
  PATH: path,
  ...more,
});
