import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import type { WireEvent } from "../kit/event-builder.ts";
import { type Actor, actor } from "../kit/keys.ts";
import { type ConnectOptions, RelayClient } from "../kit/relay-client.ts";
import { EXPECT_ALL, EXTERNAL_URL, type ServerUnderTest, startServer } from "../kit/server-under-test.ts";
import { ask } from "./http.ts";

/** The relay's own description (NIP-11), as it came. */
export type Info = Readonly<Record<string, unknown>> & {
  readonly supported_nips?: readonly number[];
  readonly limitation?: Readonly<Record<string, unknown>>;
};

/** What a conformance test is handed. Its actors belong to it alone, so tests share a relay without meeting each other. */
export interface Exchange {
  readonly server: ServerUnderTest;
  readonly info: Info;
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  readonly mallory: Actor;
  /** A new connection, closed after the test. */
  connect(options?: ConnectOptions, path?: string): Promise<RelayClient>;
  /** Publishes and expects OK true. A foreign relay whose policy refuses such events makes the test a skip. */
  accepted(client: RelayClient, ...events: readonly WireEvent[]): Promise<void>;
  /** For tests of exact answers to ordinary events: a foreign relay that restricts writes cannot be asked. */
  needsOpenWrites(): void;
  skip(reason: string): never;
}

export interface SuiteOptions {
  /** Settings that the server is started with; such tests need our own server. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The tests look at processes and files of our own server. */
  readonly own?: boolean;
  readonly timeoutMs?: number;
}

type Body = (exchange: Exchange) => Promise<void>;

/** Prefixes with which a relay says that it does not want such events at all. */
const POLICY = /^(restricted|blocked|auth-required|pow|mute):/;

/** Foreign relays keep what earlier runs published: new keys for each run. Ours starts empty, so its keys can be the same. */
const RUN = EXTERNAL_URL === undefined ? "" : `@${Date.now()}`;

const TEST_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 240_000;

/** Registers the server of one test file and returns the word that its tests are written with. */
export function conformance(options: SuiteOptions = {}): { readonly proves: (ids: string, title: string, body: Body) => void } {
  let server: ServerUnderTest | undefined;
  let info: Info = {};
  const needsOwn = options.own === true || options.env !== undefined;

  beforeAll(async () => {
    if (EXTERNAL_URL !== undefined && needsOwn) return;
    server = await startServer({ env: options.env ?? {} });
    info = await fetchInfo(server.httpUrl);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await server?.stop();
  }, START_TIMEOUT_MS);

  /** `ids`: the requirements this test proves, separated by spaces. Each is a row of requirements.tsv. */
  const proves = (ids: string, title: string, body: Body): void => {
    test(`${ids}: ${title}`, { timeout: options.timeoutMs ?? TEST_TIMEOUT_MS }, async (context) => {
      const skip = skipper(context);
      if (server === undefined) return skip("needs a server that is started with this file's settings");
      const lacking = lackingCapability(ids, info);
      if (server.external && lacking !== undefined) skip(lacking);
      const clients: RelayClient[] = [];
      try {
        await body(exchange(`${ids}: ${title}`, server, info, clients, skip));
      } finally {
        await Promise.all(clients.map((client) => client.close()));
      }
    });
  };
  return { proves };
}

function exchange(test: string, server: ServerUnderTest, info: Info, clients: RelayClient[], skip: (reason: string) => never): Exchange {
  const person = (name: string): Actor => actor(`${name} of ${test}${RUN}`);
  return {
    server,
    info,
    alice: person("alice"),
    bob: person("bob"),
    carol: person("carol"),
    mallory: person("mallory"),
    connect: async (options, path = "") => {
      const client = await RelayClient.connect(server.url + path, options);
      clients.push(client);
      return client;
    },
    accepted: async (client, ...events) => {
      for (const event of events) {
        const { ok, message } = await client.publish(event);
        if (!ok && server.external && POLICY.test(message)) skip(`this relay's policy refuses what the test publishes: ${message}`);
        expect({ ok, message }, `kind ${event.kind} must be accepted`).toMatchObject({ ok: true });
      }
    },
    needsOpenWrites: () => {
      if (server.external && info.limitation?.["restricted_writes"] === true) skip("this relay restricts what may be written");
    },
    skip,
  };
}

function skipper(context: TestContext): (reason: string) => never {
  return (reason) => {
    if (EXPECT_ALL) throw new Error(`HOLDFAST_TEST_EXPECT=all, but: ${reason}`);
    return context.skip(reason);
  };
}

function lackingCapability(ids: string, info: Info): string | undefined {
  for (const id of ids.split(" ")) {
    const nip = /^NIP-(\d+):/.exec(id)?.[1];
    if (nip !== undefined && nip !== "01" && info.supported_nips?.includes(Number(nip)) !== true) {
      return `this relay does not list NIP-${nip} in supported_nips`;
    }
    if (id.startsWith("GRASP:") && info["supported_grasps"] === undefined) return "this relay lists no supported_grasps";
  }
  return undefined;
}

export async function fetchInfo(httpUrl: string): Promise<Info> {
  try {
    return JSON.parse((await ask(httpUrl, { headers: { Accept: "application/nostr+json" } })).body) as Info;
  } catch {
    return {};
  }
}
