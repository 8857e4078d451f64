import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { plus } from "../../base/time.ts";
import { type Answer, plain } from "../answer.ts";
import { type ClientAddress, clientAddress } from "../client-address.ts";
import { ConnectionCount } from "../connection-count.ts";
import { CORS_HEADERS } from "../cors.ts";
import type { Cidr } from "../ip.ts";
import { rawResponse } from "../raw-response.ts";
import { type PlainRoute, respond, type Site } from "../respond.ts";
import { asksForWebSocket, type Route, type RouteKind, routeOf } from "../route.ts";

export interface WebServerOptions {
  /** Asked for at every request: the port, the lists and the readiness may change while we run. */
  readonly site: () => Site;
  readonly clock: Clock;
  readonly trustedProxies: readonly Cidr[];
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly handshakeTimeoutMs: number;
  /** The relay takes the socket over. Its 101 must carry `corsLines`. */
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, address: ClientAddress) => void;
  readonly report: WebReport;
}

/** What the door tells; `ops/report.ts` has these. */
export interface WebReport {
  httpAnswered(route: RouteKind, status: number): void;
  connectionRefused(why: "total" | "address" | "malformed"): void;
  fault(where: string, error: unknown): void;
}

export interface WebServer {
  /** For `listen` alone. */
  readonly server: Server;
  readonly connections: ConnectionCount;
  /** No new connections, running requests finish; after the deadline, or when all are gone, it is closed. */
  close(deadlineMs: number): Promise<void>;
}

/** Longer than the 60 s for which common proxies keep a connection, so that the proxy ends it and never writes into a closing one. */
const KEEP_ALIVE_MS = 75_000;
/** Time for a whole request to arrive: no route here takes a body. */
const REQUEST_MS = 30_000;
/** Cookies and NIP-98 tokens of strangers fit; 16 KiB is what other servers take too. */
const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_MAX = 100;
/** How many are being told no at a time, and for how long each may take to hear it. */
const REFUSALS_MAX = 256;
const REFUSAL_MS = 1_000;
/** Requests that may wait for their answer on one connection: nobody sends so many ahead, and each answer waits in memory for its reader. */
const PIPELINED_MAX = 64;
/** What is read of a body nobody wants, so that the answer is not lost with a reset connection. */
const UNWANTED_BYTES_MAX = 64 * 1024;

export function createWebServer(options: WebServerOptions): WebServer {
  const { site, clock, report } = options;
  const connections = new ConnectionCount(options.maxConnections, options.maxConnectionsPerAddress);
  const sockets = new Set<Socket>();
  /** Sockets that were told no: whatever else they say is not heard. */
  const refused = new WeakSet<Duplex>();
  /** Sockets with responses under way, and how many: nothing else may be written to them. */
  const answering = new WeakMap<Duplex, number>();
  /** Sockets that are no longer HTTP's. */
  const upgraded = new WeakSet<Duplex>();
  let closing = false;

  const server = createServer({
    noDelay: true,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: options.handshakeTimeoutMs,
    requestTimeout: Math.max(REQUEST_MS, options.handshakeTimeoutMs),
    // Timeouts are looked at this often; Node's own 30 s would make 10 s into 40.
    connectionsCheckingInterval: Math.max(50, Math.min(1_000, options.handshakeTimeoutMs / 4)),
    maxHeaderSize: HEADER_BYTES_MAX,
    // Checked below, where the answer has CORS.
    requireHostHeader: false,
    // Another protocol than WebSocket is simply not spoken: such a request is answered as if it had not asked.
    shouldUpgradeCallback: (request) => asksForWebSocket(request.headers),
  });
  server.maxHeadersCount = HEADERS_MAX;
  // Beyond the limit a client is told why; beyond this the kernel's door is shut without a word.
  server.maxConnections = options.maxConnections + REFUSALS_MAX;

  server.on("connection", (socket) => {
    const key = clientAddress(socket.remoteAddress, {}, options.trustedProxies).limitKey;
    const leave = connections.enter(key);
    if (typeof leave === "string") {
      report.connectionRefused(leave);
      refused.add(socket);
      refuse(socket, rawResponse(503, "Too many connections.", ["Retry-After: 60"]));
      return;
    }
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      leave();
    });
  });

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (refused.has(request.socket)) return;
    const { socket } = request;
    const waiting = (answering.get(socket) ?? 0) + 1;
    if (waiting > PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    answering.set(socket, waiting);
    response.once("close", () => {
      const left = (answering.get(socket) ?? 1) - 1;
      if (left === 0) answering.delete(socket);
      else answering.set(socket, left);
    });
    const nameless = request.httpVersion === "1.1" && request.headers.host === undefined;
    void answer(request, response, nameless ? plain(400, "Bad request: there is no Host header.") : undefined);
  };
  server.on("request", onRequest);
  // Left alone, Node would answer these itself, without CORS. No route wants a body, so nobody is told to go on sending one.
  server.on("checkContinue", onRequest);
  server.on("checkExpectation", onRequest);
  server.on("connect", (_, socket) => refuse(socket, rawResponse(405, "This is no proxy.", ["Allow: GET, HEAD, OPTIONS"])));

  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    upgraded.add(socket);
    if (refused.has(socket)) return;
    const route = asksForWebSocket(request.headers) ? routeFor(request) : undefined;
    if (route?.kind !== "relay") {
      answerUpgrade(request, socket as Socket);
      return;
    }
    const why = closing ? "the server is stopping" : site().notReady();
    if (why !== undefined) {
      answerUpgrade(request, socket as Socket, plain(503, `not ready: ${why}`, [["Retry-After", "10"]]));
      return;
    }
    const address = addressOf(request);
    // A direct client was counted when it connected; behind a proxy it is counted here.
    const direct = clientAddress(request.socket.remoteAddress, {}, options.trustedProxies).limitKey;
    const leave = address.limitKey === direct ? () => undefined : connections.enterAddress(address.limitKey);
    if (leave === "address") {
      report.connectionRefused("address");
      answerUpgrade(request, socket as Socket, plain(429, "Too many connections from this address.", [["Retry-After", "60"]]));
      return;
    }
    socket.once("close", leave);
    options.onUpgrade(request, socket, head, address);
  });

  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable || answering.has(socket) || refused.has(socket)) {
      socket.destroy();
      return;
    }
    report.connectionRefused("malformed");
    if (error.code === "HPE_HEADER_OVERFLOW") refuse(socket, rawResponse(431, "The headers are too large."));
    else if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") refuse(socket, rawResponse(408, "The request did not arrive in time."));
    else refuse(socket, rawResponse(400, "This is not an HTTP request."));
  });

  const routeFor = (request: IncomingMessage): Route =>
    routeOf({ method: request.method ?? "", url: request.url ?? "", headers: request.headers }, site().basePath);

  const addressOf = (request: IncomingMessage): ClientAddress =>
    clientAddress(request.socket.remoteAddress, request.headers, options.trustedProxies);

  async function answer(request: IncomingMessage, response: ServerResponse, given?: Answer): Promise<void> {
    const route = routeFor(request);
    // A request that asks for the relay without an upgrade reaching us is a plain look at its page.
    const seen: PlainRoute = route.kind === "relay" ? { kind: "home" } : route;
    try {
      write(request, response, given ?? (await respond(seen, site())));
    } catch (error) {
      report.fault("http", error);
      if (response.headersSent) response.destroy();
      else write(request, response, plain(500, "Something went wrong here."));
    }
    report.httpAnswered(route.kind, response.statusCode);
  }

  function write(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
    response.statusCode = status;
    for (const [name, value] of [...CORS_HEADERS, ...headers]) response.setHeader(name, value);
    const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
    if (closing || hasBody) response.setHeader("Connection", "close");
    if (hasBody) discard(request);
    if (status !== 204) response.setHeader("Content-Length", Buffer.byteLength(body));
    response.end(request.method === "HEAD" ? undefined : body);
  }

  /** An upgrade that is refused is answered like any request; its socket ends with the answer. */
  function answerUpgrade(request: IncomingMessage, socket: Socket, given?: Answer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => socket.end());
    // HTTP's own time limits ended with the upgrade: one who does not hang up would keep the place.
    socket.setTimeout(REFUSAL_MS, () => socket.destroy());
    void answer(request, response, given);
  }

  async function close(deadlineMs: number): Promise<void> {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // Node no longer looks at its time limits now: half a request would hold everything up until the deadline, and nothing was promised to it.
    for (const socket of sockets) if (!answering.has(socket) && !upgraded.has(socket) && !socket.writableEnded) socket.destroy();
    const cancel = clock.at(plus(clock.now(), deadlineMs), () => {
      for (const socket of sockets) socket.destroy();
    });
    await closed;
    cancel();
  }

  return { server, connections, close };
}

/** Says so and ends. What was sent to us meanwhile is read, or the reset that follows would take the answer with it. */
function refuse(socket: Duplex, text: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(text);
  socket.resume();
  (socket as Socket).setTimeout(REFUSAL_MS, () => socket.destroy());
}

/** Reads a little of an unwanted body and then stops listening to it. */
function discard(request: IncomingMessage): void {
  let left = UNWANTED_BYTES_MAX;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
