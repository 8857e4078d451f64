import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { IntakeService } from "../intake/io/intake-service.ts";
import { Health } from "../ops/health.ts";
import { createLogger } from "../ops/io/logger.ts";
import { createPrometheus } from "../ops/io/prometheus.ts";
import { createReport, type Report } from "../ops/report.ts";
import { AddressBudgets } from "../relay/address-budgets.ts";
import { ReaderThread } from "../relay/io/reader-thread.ts";
import { RelayServer } from "../relay/io/relay-server.ts";
import { DirectoryLock } from "../store/io/directory-lock.ts";
import { openReader } from "../store/io/sqlite-store.ts";
import { CORS_HEADERS } from "../web/cors.ts";
import { relayInfo } from "../web/info.ts";
import { createWebServer } from "../web/io/http-server.ts";
import { publicUrls } from "../web/public-url.ts";
import { rawResponse } from "../web/raw-response.ts";
import type { Site } from "../web/respond.ts";
import { type Config, type LoadedConfig, withBoundPort } from "./config.ts";
import { type Build, infoFacts } from "./config-web.ts";
import { newChallenge } from "./io/challenge.ts";
import { chooseListener, listen } from "./io/listeners.ts";
import { loadServerKey } from "./io/server-key.ts";
import { relayLimitsOf, relayUrlsOf, retentionsOf, rulesOf, verifyWorkersOf } from "./rules.ts";
import { BUILD } from "./version.ts";

/** Something that a person has to mend before the server can start. */
export class StartProblem extends Error {
  override name = "StartProblem";
}

export interface RunningServer {
  /** `http://host:port/base/` as the socket is really bound. */
  readonly url: string;
  readonly config: Config;
  readonly report: Report;
  /** Which implementation of BIP-340 checks signatures. */
  readonly verifier: string;
  /** No new work, what is under way is finished, everything is on disk. */
  stop(why: string): Promise<void>;
}

export interface BuildOptions {
  readonly loaded: LoadedConfig;
  readonly env: Record<string, string | undefined>;
  readonly clock: Clock;
  /** The server cannot go on: the process must end. */
  readonly died: (error: Error) => void;
}

/** Events under way in all threads together; at a kilobyte each some 64 MiB, and a second or two of work. */
const WAITING_EVENTS_MAX = 65_536;
const WAITING_BYTES_MAX = 256 * 1024 * 1024;

/** The composition root: the one place that knows every part. Parts are taken down in the reverse order. */
export async function startServer({ loaded, env, clock, died }: BuildOptions): Promise<RunningServer> {
  await using built = new AsyncDisposableStack();
  const { network, storage, limits, timing, ops } = loaded.config;
  const log = createLogger({ level: ops.logLevel, format: ops.logFormat, clock });
  const health = new Health({ store: "the store is opening" });
  let relay: RelayServer | undefined;
  const prometheus = createPrometheus({
    clock,
    version: BUILD.version,
    commit: ops.buildRevision,
    onScrape: (meters) => {
      report.open({
        subscriptions: relay?.subscriptions ?? 0,
        negentropySessions: relay?.reconciliations ?? 0,
        outgoingBytes: relay?.outgoingBytes ?? 0,
      });
      meters.set("ngit_websocket_unique_ips", web.connections.addresses);
      meters.set("ngit_websocket_flagged_abusers", web.connections.crowded(ops.metricsConnectionPerIpAbuseThreshold));
    },
  });
  const report = createReport(log, prometheus.meters);
  for (const warning of loaded.warnings) report.advice(warning);
  report.starting(BUILD.version);

  const directory = storage.store === "memory" ? temporary(built) : storage.relayDataPath;
  built.use(take(directory));
  if (storage.store === "disk") {
    built.use(take(storage.gitDataPath));
  }
  const key = await loadServerKey({ env, relayDataPath: directory, persist: storage.store === "disk" });
  if (key.kind === "bad") throw new StartProblem(key.problem);
  for (const warning of key.warnings) report.advice(warning);

  let site: Site | undefined;
  const web = createWebServer({
    site: () => site as Site,
    clock,
    trustedProxies: network.trustedProxies,
    maxConnections: limits.maxConnections,
    maxConnectionsPerAddress: limits.maxConnectionsPerAddress,
    handshakeTimeoutMs: timing.handshakeTimeoutMs,
    onUpgrade: (request, socket, head, address) => {
      if (relay === undefined) socket.end(rawResponse(503, "not ready", ["Retry-After: 5"]));
      else relay.upgrade(request, socket as Socket, head, address);
    },
    report,
  });
  const choice = chooseListener(env, process.pid, network.bindAddress);
  if (choice.kind === "bad") throw new StartProblem(choice.problem);
  for (const warning of choice.warnings) report.advice(warning);
  const bound = await listen(web.server, choice.listener);
  built.defer(() => web.close(timing.stopGraceMs));
  const config = withBoundPort(loaded, bound.port);
  site = siteOf(config, key.key.publicKey, BUILD, health, ops.metricsEnabled ? () => prometheus.text() : undefined);

  const intake = await IntakeService.start(
    {
      directory,
      rules: rulesOf(config),
      retentions: retentionsOf(config),
      verifyWorkers: verifyWorkersOf(config),
      waitingMax: WAITING_EVENTS_MAX,
      waitingBytesMax: WAITING_BYTES_MAX,
      gatesEveryMs: ops.testTimers ? 1_000 : 3_600_000,
    },
    {
      changed: (changes, passing) => relay?.broadcast(changes, passing),
      // Nothing waits for git data yet, so there is nothing to settle.
      evidence: () => undefined,
      fault: (text) => report.fault("writer", new Error(text)),
      died,
    },
  );
  built.use(intake);
  const near = openReader(directory);
  built.defer(() => near.close());
  const far = await ReaderThread.start({ directory, negentropyItemsMax: limits.maxNegentropyItems }, died);
  built.use(far);
  const budgets = new AddressBudgets({
    events: limits.eventsPerMinutePerAddress,
    queries: limits.queriesPerMinutePerAddress,
    messages: limits.messagesPerMinutePerAddress,
    auths: limits.authsPerMinutePerAddress,
  });
  const server = new RelayServer(
    {
      limits: relayLimitsOf(config),
      relayUrls: relayUrlsOf(config),
      outgoingBytesMax: limits.maxOutgoingBytes,
      outgoingBytesTotalMax: limits.maxOutgoingBytesTotal,
      handshakeHeaders: CORS_HEADERS,
    },
    {
      clock,
      intake,
      reader: near.reader,
      far,
      report,
      challenge: newChallenge,
      allows: (limitKey, what, n) => budgets.allows(limitKey, what, clock.now(), n),
    },
  );
  relay = server;
  health.ready("store");

  const parts = built.move();
  let stopping: Promise<void> | undefined;
  const stop = async (why: string): Promise<void> => {
    report.stopping(why);
    health.waiting("stop", "the server is stopping");
    await server.stop(timing.stopGraceMs);
    await parts.disposeAsync();
    report.stopped();
  };
  return {
    url: publicUrls(`${bound.host.includes(":") ? `[${bound.host}]` : bound.host}:${bound.port}`, config.service.basePath).home,
    config,
    report,
    verifier: intake.verifierName,
    stop: (why) => (stopping ??= stop(why)),
  };
}

function siteOf(
  config: Config,
  serverKey: Parameters<typeof infoFacts>[1],
  build: Build,
  health: Health,
  metrics: (() => Promise<string>) | undefined,
): Site {
  const { domain, basePath } = config.service;
  return {
    urls: publicUrls(domain, basePath),
    basePath,
    info: relayInfo(infoFacts(config, serverKey, build)),
    git: false,
    notReady: () => health.notReady(),
    metrics,
  };
}

/** The directory, made and held by this process. That it cannot be is the operator's to mend, and said in a sentence. */
function take(directory: string): DirectoryLock {
  try {
    return DirectoryLock.take(directory);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    throw new StartProblem(`The data path ${directory} cannot be used (${code}). It must be a directory that this user may write to.`);
  }
}

/** A store that forgets: a directory of its own that goes with the process. */
function temporary(built: AsyncDisposableStack): string {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-"));
  built.defer(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
