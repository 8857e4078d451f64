/**
 * The tables of the disk store. `user_version` is the number of steps that were applied; a step, once released, is never changed: a new one is added.
 *
 * - `event`: what is known of a served event without its text; `seq` is the change that served it. Small rows, so that walking many is cheap.
 * - `body`: the text as it is sent.
 * - `posting`: every index in one table (store/keys.ts). Read backwards, a key gives its events newest first, ties lowest id first.
 * - `gone`: numbers of the feed whose event is not in `event`: the change that served it once, the one that removed it, and the one that holds it.
 * - `gate`, `gate_target`: remembered deletion and vanish requests (grasp.md 11.2).
 * - `held`: what is kept and not served (store/held.ts); `seq` is the change that holds it, none once it is out of purgatory. It stands in no posting
 *   list, so no reader can come upon it, and what is served costs the same whether much waits or nothing.
 * - `held_repository`: what PRs wait for. `overlay`, `intent`, `tip`: grasp.md 6.7, 6.8, 7.9.
 */
export const SCHEMA_STEPS: readonly string[] = [
  `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE relay (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    id_rank INTEGER NOT NULL,
    id BLOB NOT NULL,
    pubkey BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    how INTEGER NOT NULL,
    relay INTEGER
  ) STRICT;
  CREATE INDEX event_by_id ON event (id_rank);
  CREATE TABLE body (seq INTEGER PRIMARY KEY, expires_at INTEGER, text TEXT NOT NULL) STRICT;
  CREATE INDEX body_by_expiry ON body (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE posting (
    key INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id_rank INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    PRIMARY KEY (key, created_at, id_rank, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE gone (seq INTEGER PRIMARY KEY, change INTEGER NOT NULL, id BLOB NOT NULL) STRICT;
  CREATE TABLE gate (
    request BLOB PRIMARY KEY,
    author BLOB NOT NULL,
    vanish_until INTEGER,
    seen_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX gate_by_author ON gate (author);
  CREATE TABLE gate_target (
    author BLOB NOT NULL,
    target TEXT NOT NULL,
    request BLOB NOT NULL,
    until INTEGER,
    PRIMARY KEY (author, target, request)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX gate_target_by_request ON gate_target (request);
  `,
  `
  CREATE TABLE held (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    seq INTEGER,
    stage INTEGER NOT NULL,
    what INTEGER NOT NULL,
    author BLOB NOT NULL,
    identifier TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    held_at INTEGER NOT NULL,
    until INTEGER,
    expires_at INTEGER,
    how INTEGER NOT NULL,
    relay TEXT,
    repositories TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX held_by_author ON held (author, identifier);
  CREATE INDEX held_by_identifier ON held (identifier, what, created_at);
  CREATE INDEX held_by_end ON held (until) WHERE seq IS NULL AND until IS NOT NULL;
  CREATE INDEX held_by_expiry ON held (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE held_repository (repository TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (repository, id)) STRICT, WITHOUT ROWID;
  CREATE TABLE overlay (
    repository TEXT NOT NULL,
    ref TEXT NOT NULL,
    state BLOB NOT NULL,
    value TEXT,
    PRIMARY KEY (repository, ref, state)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX overlay_by_state ON overlay (state);
  CREATE TABLE intent (repository TEXT PRIMARY KEY, plan TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE tip (
    repository TEXT NOT NULL,
    id BLOB NOT NULL,
    tip TEXT NOT NULL,
    until INTEGER NOT NULL,
    uploader TEXT NOT NULL,
    PRIMARY KEY (repository, id, tip)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tip_by_id ON tip (id);
  CREATE INDEX tip_by_end ON tip (until);
  `,
];
