import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { defaultConfig, loadConfig } from "../config.ts";
import { readArguments } from "../config-arguments.ts";
import { settingsManual } from "./manual.ts";
import { ELSEWHERE_NAMES, otherNames, PRIVATE_MODE, SECRET_NAMES } from "./other-names.ts";
import { rows } from "./table.ts";

/** reference-3-server.md §3, the table, "Others" and "Documented but absent". */
const NGIT_NAMES =
  `DOMAIN BASE_PATH RELAY_OWNER_NSEC RELAY_NAME RELAY_DESCRIPTION GIT_DATA_PATH RELAY_DATA_PATH BIND_ADDRESS TRUSTED_PROXY_CIDRS
DATABASE_BACKEND STARTUP_INTEGRITY_IDENTIFIERS METRICS_ENABLED METRICS_CONNECTION_PER_IP_ABUSE_THRESHOLD METRICS_TOP_N_REPOS SYNC_BOOTSTRAP_RELAY_URL
SYNC_PLUS_ENABLED USER_INDEX_RELAYS SYNC_PLUS_FALLBACK_RELAYS SYNC_RECURSIVE_DESCENDANT_LIMIT SYNC_MAX_BACKOFF_SECS SYNC_BASE_BACKOFF_SECS
SYNC_DISCONNECT_CHECK_INTERVAL_SECS SYNC_DISABLE_NEGENTROPY SYNC_ALLOW_NON_GLOBAL_TARGETS REJECTED_HOT_CACHE_DURATION_SECS REJECTED_COLD_INDEX_EXPIRY_SECS
NAUGHTY_LIST_EXPIRATION_HOURS HOLDING_RETENTION_SECS HOLDING_CLEANUP_INTERVAL_SECS DELETION_REQUEST_RETENTION_UNUSED_SERVED_SECS
DELETION_REQUEST_RETENTION_UNUSED_UNSERVED_GATING_ADDITIONAL_SECS DELETION_REQUEST_RETENTION_USED_SERVED_AFTER_LAST_USED_SECS
DELETION_REQUEST_RETENTION_USED_UNSERVED_GATING_ADDITIONAL_SECS DELETION_REQUEST_DISRESPECTOR ARCHIVE_ALL ARCHIVE_WHITELIST ARCHIVE_GRASP_SERVICES
ARCHIVE_READ_ONLY GRASP06_ENABLE PRIVATE_MODE PRIVATE_MEMBERS PRIVATE_PUBLIC_ORIGIN REPOSITORY_WHITELIST REPOSITORY_BLACKLIST BLACKLIST_AUTO_RESTORE
EVENT_BLACKLIST MAX_CONNECTIONS RELAY_MAX_SUBSCRIPTIONS RELAY_FILTER_LIMIT RELAY_MAX_EVENT_SIZE_BYTES LOG_LEVEL BUILD_REVISION IMAGE HOST_PORT
COMPOSE_SUBNET CADDY_IP TEST TEST_LISTENER_FD SYNC_STARTUP_DELAY_SECS SYNC_RECONNECT_DELAY_SECS SYNC_RECONNECT_LOOKBACK_DAYS AUTH_REQUIRED
RATE_LIMIT_ENABLED`
    .split(/\s+/)
    .map((name) => `NGIT_${name}`);

describe("the table", () => {
  test("grasp.md 12.1: every name of the reference is known exactly once", () => {
    const known = [...rows.flatMap((row) => row.ngit), ...otherNames.map((o) => o.name), ...SECRET_NAMES, ...ELSEWHERE_NAMES, PRIVATE_MODE];
    expect(new Set(known).size).toBe(known.length);
    expect(NGIT_NAMES.filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(otherNames.map((other) => other.name))("%s is accepted with a warning that names it", (name) => {
    const result = loadConfig({ arguments: readArguments([]), env: { [name]: "1" }, file: undefined });
    expect(result).toMatchObject({ kind: "ok", loaded: { warnings: [expect.stringContaining(`\`${name}\` `)] } });
  });

  test("keys, flags and variables are unique", () => {
    for (const names of [rows.map((r) => r.key), rows.map((r) => r.name), rows.map((r) => r.env)])
      expect(new Set(names).size).toBe(names.length);
  });

  test.each(rows.map((row) => [row.name, row] as const))("%s: what is shown is read back as it was, and both sentences end", (_, row) => {
    const value = (defaultConfig() as unknown as Record<string, Record<string, unknown>>)[row.group]?.[row.key];
    const shown = row.setting.type.show(value);
    if (shown !== undefined) expect(row.setting.type.read(shown)).toMatchObject({ ok: true, value, note: undefined });
    expect(row.setting.meaning).toMatch(/^[A-Z`].*\.$/);
    expect(row.setting.reason).toMatch(/^[A-Z`0-9].*\.$/);
  });

  test("docs/CONFIGURATION.md is what scripts/settings-doc.mjs writes", async () => {
    expect(await readFile(new URL("../../../docs/CONFIGURATION.md", import.meta.url), "utf8")).toBe(settingsManual());
  });
});
