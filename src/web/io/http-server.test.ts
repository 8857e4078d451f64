import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/io/system-clock.ts";
import type { PublicKey } from "../../nostr/event.ts";
import type { ClientAddress } from "../client-address.ts";
import { CORS_HEADERS, corsLines } from "../cors.ts";
import { type Cidr, readCidr } from "../ip.ts";
import { publicUrls } from "../public-url.ts";
import type { Site } from "../respond.ts";
import { createWebServer, type WebServer, type WebServerOptions } from "./http-server.ts";

const site: Site = {
  urls: publicUrls("git.example", "/"),
  basePath: "/",
  info: { name: "reef", self: "ab".repeat(32) as PublicKey, supported_nips: [1], supported_grasps: [], limitation: {} },
  git: false,
  notReady: () => undefined,
  metrics: async () => "ngit_x 1\n",
};

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const UPGRADE = `Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n`;

let web: WebServer;
let port = 0;
let told: string[] = [];
const upgraded: ClientAddress[] = [];
const clients: Socket[] = [];

async function start(change: Partial<WebServerOptions> = {}): Promise<void> {
  told = [];
  upgraded.length = 0;
  web = createWebServer({
    site: () => site,
    clock: systemClock,
    trustedProxies: [],
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
    handshakeTimeoutMs: 5_000,
    onUpgrade: (_, socket, __, address) => {
      upgraded.push(address);
      // As a relay does: it reads, and so it notices when the client leaves.
      socket.on("end", () => socket.end()).resume();
      socket.write(["HTTP/1.1 101 Switching Protocols", ...corsLines, "", ""].join("\r\n"));
    },
    report: {
      httpAnswered: (route, status) => told.push(`${route} ${status}`),
      connectionRefused: (why) => told.push(`refused ${why}`),
      fault: (where, error) => told.push(`fault ${where} ${String(error)}`),
    },
    ...change,
  });
  web.server.listen(0, "127.0.0.1");
  await once(web.server, "listening");
  port = (web.server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await web.close(0);
});

function open(): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  clients.push(socket);
  return socket;
}

/** Everything that comes back until the other side ends. */
async function say(bytes: string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  return text(socket);
}

const ask = (line: string, headers = ""): Promise<string> => say(`${line} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);
const askUpgrade = (path: string, headers = UPGRADE): Promise<string> => say(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

/** What has come so far, as soon as it holds a whole head. */
async function head(socket: Socket): Promise<string> {
  let seen = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    if (seen.includes("\r\n\r\n")) return seen;
  }
  return seen;
}

const expectCors = (response: string): void => {
  for (const [name, value] of CORS_HEADERS) expect(response).toContain(`${name}: ${value}\r\n`);
};

describe("answers over a real socket (grasp.md 2.1, 2.2)", () => {
  test("small answers do not wait for more to send (GRASP:2.1/nodelay)", async () => {
    await start();
    expect((web.server as unknown as { noDelay: boolean }).noDelay).toBe(true);
  });

  test.each([
    ["GET /", "", 200],
    ["GET /", "Accept: application/nostr+json\r\n", 200],
    ["GET /nowhere", "", 404],
    ["POST /", "Content-Length: 0\r\n", 405],
    ["OPTIONS /anything", "", 204],
    ["GET /metrics", "", 200],
    ["GET /healthz", "", 200],
    ["GET /readyz", "", 200],
    ["GET x", "", 400],
  ])("%s %s answers %i with CORS", async (line, headers, status) => {
    await start();
    const response = await ask(line, headers);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectCors(response);
    expect(told).toHaveLength(1);
  });

  test.each([
    ["no Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["HTTP/1.0 needs none", "GET / HTTP/1.0\r\n\r\n", 200],
    ["an expectation", "GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n", 200],
    ["leave to send a body", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n123456789", 405],
    ["a tunnel", "CONNECT other:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
  ])("what Node would answer by itself has CORS too: %s", async (_, bytes, status) => {
    await start();
    const response = await say(bytes);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectCors(response);
  });

  test("a preflight has Max-Age and no body", async () => {
    await start();
    const response = await ask("OPTIONS /");
    expect(response).toContain("Access-Control-Max-Age: 86400\r\n");
    expect(response).toMatch(/\r\n\r\n$/);
  });

  test("HEAD has the head of GET and nothing more", async () => {
    await start();
    const [got, headed] = [await ask("GET /"), await ask("HEAD /")];
    const plainHead = (r: string): string => r.slice(0, r.indexOf("\r\n\r\n") + 4).replace(/Date: [^\r]*/, "");
    expect(plainHead(headed)).toBe(plainHead(got));
    expect(headed).toMatch(/\r\n\r\n$/);
  });

  test("not ready says why, takes nobody in, and is alive all the same", async () => {
    let why: string | undefined = "the store is opening";
    await start({ site: () => ({ ...site, notReady: () => why }) });
    for (const response of [await ask("GET /readyz"), await askUpgrade("/")]) {
      expect(response).toMatch(/^HTTP\/1\.1 503 [\s\S]*not ready: the store is opening\n$/);
      expectCors(response);
    }
    expect(upgraded).toEqual([]);
    expect(await ask("GET /healthz")).toMatch(/^HTTP\/1\.1 200 /);
    why = undefined;
    expect(await ask("GET /readyz")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("a page that fails is a 500 with CORS and is told", async () => {
    await start({ site: () => ({ ...site, metrics: () => Promise.reject(new Error("broken")) }) });
    const response = await ask("GET /metrics");
    expect(response).toMatch(/^HTTP\/1\.1 500 /);
    expectCors(response);
    expect(told).toEqual(["fault http Error: broken", "metrics 500"]);
  });

  test("a body nobody wants does not stop the answer, and its connection ends", async () => {
    await start();
    const response = await say(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n${"x".repeat(20_000)}`);
    expect(response).toMatch(/^HTTP\/1\.1 405 /);
    expect(response).toContain("Connection: close\r\n");
  });
});

describe("malformed requests", () => {
  test.each([
    ["no HTTP", "hello there\r\n\r\n", 400],
    ["two lengths", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    ["too large headers", `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ])("%s", async (_, bytes, status) => {
    await start();
    const response = await say(bytes);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectCors(response);
    expect(told).toEqual(["refused malformed"]);
  });

  test.each([
    ["nothing at all", ""],
    ["half a request", "GET / HTTP/1.1\r\nHost:"],
  ])("grasp.md 3.3: %s is not waited for", async (_, bytes) => {
    await start({ handshakeTimeoutMs: 100 });
    const response = await say(bytes);
    expect(response).toMatch(/^(HTTP\/1\.1 408 |$)/);
    if (response !== "") expectCors(response);
  });
});

describe("upgrades", () => {
  test("reach the relay with the address, and the 101 carries CORS", async () => {
    await start();
    const socket = open();
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    const response = await head(socket);
    expect(response).toMatch(/^HTTP\/1\.1 101 /);
    expectCors(response);
    expect(upgraded).toEqual([{ ip: "127.0.0.1", limitKey: undefined }]);
  });

  test.each([
    ["elsewhere", "/elsewhere", UPGRADE, 404],
    ["without a key", "/", UPGRADE.replace(/Sec-WebSocket-Key.*\r\n/, ""), 400],
    ["of an old version", "/", UPGRADE.replace("13", "8"), 426],
  ])("%s are refused with CORS and the connection ends", async (_, path, headers, status) => {
    await start();
    const response = await askUpgrade(path, headers);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectCors(response);
    expect(upgraded).toEqual([]);
  });

  test("to another protocol are answered as if they had not asked", async () => {
    await start();
    expect(await ask("GET /healthz", "Connection: Upgrade\r\nUpgrade: h2c\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("grasp.md 2.3: behind a trusted proxy the client is who the proxy says", async () => {
    await start({ trustedProxies: [readCidr("127.0.0.1") as Cidr] });
    const socket = open();
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.1\r\n${UPGRADE}\r\n`);
    await head(socket);
    expect(upgraded).toEqual([{ ip: "198.51.100.1", limitKey: "198.51.100.1" }]);
  });
});

describe("limits (grasp.md 3.3)", () => {
  test("connections in total: one more is told so, and a place that was left is taken again", async () => {
    await start({ maxConnections: 2 });
    const first = open();
    const second = open();
    await Promise.all([once(first, "connect"), once(second, "connect")]);
    await expect.poll(() => web.connections.total).toBe(2);
    const response = await ask("GET /healthz");
    expect(response).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 60/);
    expectCors(response);
    expect(told).toEqual(["refused total"]);
    first.destroy();
    await expect.poll(() => web.connections.total).toBe(1);
    expect(await ask("GET /healthz")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("connections per address, by the address behind the proxy", async () => {
    await start({ trustedProxies: [readCidr("127.0.0.1") as Cidr], maxConnectionsPerAddress: 1 });
    const from = (ip: string): string => `X-Forwarded-For: ${ip}\r\n${UPGRADE}`;
    const first = open();
    first.write(`GET / HTTP/1.1\r\nHost: x\r\n${from("198.51.100.1")}\r\n`);
    expect(await head(first)).toMatch(/^HTTP\/1\.1 101 /);

    const refused = await askUpgrade("/", from("198.51.100.1"));
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expectCors(refused);

    const other = open();
    other.write(`GET / HTTP/1.1\r\nHost: x\r\n${from("198.51.100.2")}\r\n`);
    expect(await head(other)).toMatch(/^HTTP\/1\.1 101 /);

    first.destroy();
    await expect.poll(() => web.connections.addresses).toBe(1);
    const again = open();
    again.write(`GET / HTTP/1.1\r\nHost: x\r\n${from("198.51.100.1")}\r\n`);
    expect(await head(again)).toMatch(/^HTTP\/1\.1 101 /);
  });
});

describe("clients that keep their place (grasp.md 3.3)", () => {
  test("a refused upgrade ends even when its client never hangs up", async () => {
    await start();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined).resume();
    clients.push(socket);
    socket.write(`GET /nowhere HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    await once(socket, "end");
    while (web.connections.total > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test("many requests sent ahead of their answers end the connection; some are answered in order", async () => {
    const slow: (() => void)[] = [];
    await start({ site: () => ({ ...site, metrics: () => new Promise((resolve) => slow.push(() => resolve("ngit_x 1\n"))) }) });
    const line = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    const flood = await say(line.repeat(2_000)).catch(() => "reset");
    expect(flood, "cut off, not answered two thousand times").not.toContain("HTTP/1.1 200");
    expect(slow.length).toBeLessThanOrEqual(64);
    slow.length = 0;
    const few = say(`${line.repeat(9)}${line.replace("Host", "Connection: close\r\nHost")}`);
    while (slow.length < 10) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const answer of slow.reverse()) answer();
    expect((await few).split("HTTP/1.1 200").length - 1).toBe(10);
  });
});

describe("closing (grasp.md 12.4)", () => {
  test("running requests finish, idle connections end, nobody new comes in", async () => {
    let release = (): void => undefined;
    const held = new Promise<string>((resolve) => {
      release = () => resolve("late 1\n");
    });
    let asked = (): void => undefined;
    const running = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await start({ site: () => ({ ...site, metrics: () => (asked(), held) }) });
    const idle = open();
    idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await head(idle);
    const slow = say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    await running;
    const closed = web.close(20_000);
    idle.resume();
    await once(idle, "close");
    release();
    const response = await slow;
    expect(response).toMatch(/late 1\n$/);
    expect(response).toContain("Connection: close");
    await closed;
    expect(await say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").catch(() => "refused")).toBe("refused");
  });

  test("half a request holds nothing up", async () => {
    await start();
    for (const text of ["", "GET / HTTP/1.1\r\nHost: x\r\n"]) open().write(text);
    while (web.connections.total < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await web.close(1_000_000);
    while (web.connections.total > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(web.server.listening).toBe(false);
  });

  test("what is still there at the deadline is cut off", async () => {
    await start();
    const socket = open();
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    await head(socket);
    socket.resume();
    const ended = once(socket, "close");
    await web.close(10);
    await ended;
    await expect.poll(() => web.connections.total).toBe(0);
  });
});
