/** A name that ngit-grasp has (or once documented) and that sets nothing here. It is accepted, so that its environment can be used unchanged. */
export interface OtherName {
  /** With `NGIT_`. */
  readonly name: string;
  readonly fate: "not-yet" | "none";
  /** The end of the sentence "`NGIT_X` …". */
  readonly why: string;
  /** Its flag in ngit-grasp takes no value. */
  readonly isSwitch: boolean;
}

const SYNC = "is for synchronisation with other servers, which is not part of this version";
const ARCHIVE = "is for archiving other servers' repositories, which is not part of this version";
const HELD = "is for holding removed repositories, which is not part of this version";
const FIXED = "sets something that this server does not let be set";
const PLANNED = "was documented for ngit-grasp but never did anything, and does nothing here";
const DEPLOY = "is for the scripts around a container, not for the server";

const entry = (fate: OtherName["fate"], why: string, names: readonly string[], isSwitch = false): readonly OtherName[] =>
  names.map((name) => ({ name: `NGIT_${name}`, fate, why, isSwitch }));

export const otherNames: readonly OtherName[] = [
  ...entry("not-yet", SYNC, [
    "SYNC_BOOTSTRAP_RELAY_URL",
    "SYNC_PLUS_ENABLED",
    "USER_INDEX_RELAYS",
    "SYNC_PLUS_FALLBACK_RELAYS",
    "SYNC_RECURSIVE_DESCENDANT_LIMIT",
    "SYNC_MAX_BACKOFF_SECS",
    "SYNC_BASE_BACKOFF_SECS",
    "REJECTED_HOT_CACHE_DURATION_SECS",
    "REJECTED_COLD_INDEX_EXPIRY_SECS",
    "NAUGHTY_LIST_EXPIRATION_HOURS",
  ]),
  ...entry("not-yet", SYNC, ["SYNC_DISABLE_NEGENTROPY", "SYNC_ALLOW_NON_GLOBAL_TARGETS"], true),
  ...entry("not-yet", HELD, ["HOLDING_RETENTION_SECS", "HOLDING_CLEANUP_INTERVAL_SECS", "ARCHIVE_RETENTION_SECS"]),
  ...entry("not-yet", HELD, ["BLACKLIST_AUTO_RESTORE"], true),
  ...entry("not-yet", ARCHIVE, ["ARCHIVE_WHITELIST", "ARCHIVE_GRASP_SERVICES", "ARCHIVE_READ_ONLY"]),
  ...entry("not-yet", ARCHIVE, ["ARCHIVE_ALL"], true),
  ...entry("not-yet", "is for pull requests of contributors, which are not part of this version", ["GRASP06_ENABLE"], true),
  ...entry("not-yet", "is for private services, which are not part of this version", ["PRIVATE_MEMBERS", "PRIVATE_PUBLIC_ORIGIN"]),
  ...entry("not-yet", "limits a check of git data at the start, which is not part of this version", ["STARTUP_INTEGRITY_IDENTIFIERS"]),
  ...entry("none", FIXED, ["SYNC_DISCONNECT_CHECK_INTERVAL_SECS", "METRICS_TOP_N_REPOS"]),
  ...entry("none", PLANNED, [
    "SYNC_STARTUP_DELAY_SECS",
    "SYNC_RECONNECT_DELAY_SECS",
    "SYNC_RECONNECT_LOOKBACK_DAYS",
    "SYNC_STARTUP_JITTER_MS",
    "SYNC_BATCH_WINDOW_MS",
    "AUTH_REQUIRED",
    "RATE_LIMIT_ENABLED",
    "OWNER_NPUB",
    "TOP_N_REPOS",
  ]),
  ...entry("none", DEPLOY, ["IMAGE", "HOST_PORT", "COMPOSE_SUBNET", "CADDY_IP"]),
];

/** Asking for privacy and being given a public service is worse than not being served: when it is on, the start stops. */
export const PRIVATE_MODE = "NGIT_PRIVATE_MODE";

/** Read by `io/server-key.ts` and never from the command line, which everybody on the machine can see. */
export const SECRET_NAMES = ["HOLDFAST_NSEC", "NGIT_RELAY_OWNER_NSEC"] as const;

/** Read elsewhere: the file of settings, and the socket a test hands over. */
export const ELSEWHERE_NAMES = ["HOLDFAST_CONFIG", "NGIT_TEST_LISTENER_FD"] as const;

/** What Kubernetes adds by itself for a service that is called `holdfast` or `ngit…`: not meant for us, and not a mistake. */
export const SERVICE_LINK =
  /^[A-Z0-9_]+_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?)$/;
