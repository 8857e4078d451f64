import { WebSocket } from "ws";
import type { WireEvent } from "./event-builder.ts";

/** What a relay sent: a JSON array that begins with its verb. */
export type Message = readonly unknown[];
export type WireFilter = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly events: readonly WireEvent[];
  readonly eose: boolean;
  /** The text of CLOSED when the relay refused. */
  readonly closed: string | undefined;
}

export interface ConnectOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Answer pings by ourselves; off, to play a dead client. */
  readonly autoPong?: boolean;
}

/** Long enough for a busy machine; a condition that holds is seen at once, so only failures wait this long. */
export const DEADLINE_MS = Number(process.env["HOLDFAST_TEST_DEADLINE_MS"] ?? 20_000);

const shorten = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text);

interface Waiter {
  readonly wants: (message: Message) => boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** A small client that waits for conditions and, when one does not come, shows everything that was said. */
export class RelayClient {
  readonly url: string;
  /** Everything both sides said, in order. */
  readonly transcript: string[] = [];
  /** Every message the relay ever sent on this connection, read or not. */
  readonly received: Message[] = [];
  /** The upgrade's response headers. */
  headers: Readonly<Record<string, string | string[] | undefined>> = {};
  pings = 0;
  readonly #unread: Message[] = [];
  #waiters: Waiter[] = [];
  readonly #socket: WebSocket;
  readonly #closed: Promise<number>;
  #isClosed = false;
  #counter = 0;

  private constructor(url: string, socket: WebSocket) {
    this.url = url;
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("message", (data, isBinary) => this.#hear((data as Buffer).toString("utf8"), isBinary));
    socket.on("upgrade", (response) => {
      this.headers = response.headers;
    });
    socket.on("ping", () => {
      this.pings += 1;
    });
    socket.on("error", (error) => this.transcript.push(`!! ${error.message}`));
    void this.#closed.then((code) => {
      this.#isClosed = true;
      this.transcript.push(`-- closed ${code}`);
      for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#failure(`the relay closed the connection (${code})`));
    });
  }

  static connect(url: string, options: ConnectOptions = {}): Promise<RelayClient> {
    const socket = new WebSocket(url, {
      headers: { ...options.headers },
      perMessageDeflate: false,
      autoPong: options.autoPong ?? true,
      handshakeTimeout: DEADLINE_MS,
      maxPayload: 256 * 1024 * 1024,
    });
    const client = new RelayClient(url, socket);
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(client));
      socket.once("unexpected-response", (_request, response) => {
        response.resume();
        socket.terminate();
        reject(new UpgradeRefused(response.statusCode ?? 0, response.headers));
      });
      socket.once("error", reject);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Raw text or bytes: what malformed input needs. */
  send(raw: string | Uint8Array): void {
    this.transcript.push(`-> ${typeof raw === "string" ? shorten(raw) : `${raw.length} bytes`}`);
    this.#socket.send(raw);
  }

  say(...message: unknown[]): void {
    this.send(JSON.stringify(message));
  }

  newSub(): string {
    this.#counter += 1;
    return `s${this.#counter}`;
  }

  /** The first message, unread or still to come, that `wants` likes. It is taken; the others stay. */
  next(wants: (message: Message) => boolean, what: string, deadlineMs = DEADLINE_MS): Promise<Message> {
    const index = this.#unread.findIndex(wants);
    if (index >= 0) return Promise.resolve(this.#unread.splice(index, 1)[0] as Message);
    if (this.#isClosed) return Promise.reject(this.#failure(`waited for ${what} on a closed connection`));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        wants,
        resolve: (message) => {
          clearTimeout(timer);
          resolve(message);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(this.#failure(`no ${what} within ${deadlineMs} ms`));
      }, deadlineMs);
      this.#waiters.push(waiter);
    });
  }

  nextVerb(verb: string, sub?: string): Promise<Message> {
    const what = sub === undefined ? verb : `${verb} for ${shorten(sub)}`;
    return this.next((message) => message[0] === verb && (sub === undefined || message[1] === sub), what);
  }

  async nextEvent(sub: string): Promise<WireEvent> {
    return (await this.nextVerb("EVENT", sub))[2] as WireEvent;
  }

  async publish(event: WireEvent): Promise<{ readonly ok: boolean; readonly message: string }> {
    this.say("EVENT", event);
    return this.nextOk(event.id);
  }

  async nextOk(id: unknown): Promise<{ readonly ok: boolean; readonly message: string }> {
    const [, , ok, message] = await this.next((m) => m[0] === "OK" && m[1] === id, `OK for ${String(id)}`);
    return { ok: ok as boolean, message: message as string };
  }

  /** REQ, then everything up to EOSE or CLOSED. The subscription stays open. */
  async subscribe(sub: string, ...filters: readonly unknown[]): Promise<Answer> {
    this.say("REQ", sub, ...filters);
    return this.collect(sub);
  }

  async collect(sub: string): Promise<Answer> {
    const events: WireEvent[] = [];
    for (;;) {
      const message = await this.next((m) => m[1] === sub && (m[0] === "EVENT" || m[0] === "EOSE" || m[0] === "CLOSED"), `EOSE of ${sub}`);
      if (message[0] === "EVENT") events.push(message[2] as WireEvent);
      else if (message[0] === "EOSE") return { events, eose: true, closed: undefined };
      else return { events, eose: false, closed: String(message[2]) };
    }
  }

  /** REQ, everything up to EOSE or CLOSED, then CLOSE. */
  async request(...filters: readonly unknown[]): Promise<Answer> {
    const sub = this.newSub();
    const answer = await this.subscribe(sub, ...filters);
    if (answer.eose) this.say("CLOSE", sub);
    return answer;
  }

  async ids(...filters: readonly unknown[]): Promise<readonly string[]> {
    return (await this.request(...filters)).events.map((event) => event.id);
  }

  async count(
    ...filters: readonly unknown[]
  ): Promise<{ readonly result: Readonly<Record<string, unknown>> | undefined; readonly closed: string | undefined }> {
    const sub = this.newSub();
    this.say("COUNT", sub, ...filters);
    const message = await this.next((m) => m[1] === sub && (m[0] === "COUNT" || m[0] === "CLOSED"), "COUNT");
    if (message[0] === "CLOSED") return { result: undefined, closed: String(message[2]) };
    return { result: message[2] as Readonly<Record<string, unknown>>, closed: undefined };
  }

  async negOpen(sub: string, filter: unknown, message: unknown): Promise<NegAnswer> {
    this.say("NEG-OPEN", sub, filter, message);
    return this.negAnswer(sub);
  }

  async negMsg(sub: string, message: unknown): Promise<NegAnswer> {
    this.say("NEG-MSG", sub, message);
    return this.negAnswer(sub);
  }

  negClose(sub: string): void {
    this.say("NEG-CLOSE", sub);
  }

  async negAnswer(sub: string): Promise<NegAnswer> {
    const answer = await this.next((m) => m[1] === sub && (m[0] === "NEG-MSG" || m[0] === "NEG-ERR"), `NEG answer for ${sub}`);
    if (answer[0] === "NEG-ERR") return { message: undefined, error: String(answer[2]) };
    return { message: String(answer[2]), error: undefined };
  }

  /** Proves that the connection lives and that all before it was heard: a query that matches nothing must reach EOSE. */
  async roundTrip(): Promise<void> {
    const sub = `rt-${this.newSub()}`;
    const answer = await this.subscribe(sub, { ids: ["0".repeat(64)] });
    if (!answer.eose) throw this.#failure(`an empty query was refused: ${answer.closed}`);
    this.say("CLOSE", sub);
  }

  /** Events that ever came for this subscription, read or not. */
  seen(sub: string): readonly string[] {
    return this.received.filter((m) => m[0] === "EVENT" && m[1] === sub).map((m) => (m[2] as WireEvent).id);
  }

  notices(): readonly string[] {
    return this.received.filter((m) => m[0] === "NOTICE").map((m) => String(m[1]));
  }

  /** Stops reading from the network: what a slow reader does. */
  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** Resolves with the code when the other side has closed. */
  async untilClosed(deadlineMs = DEADLINE_MS): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`connection still open after ${deadlineMs} ms`)), deadlineMs);
    });
    try {
      return await Promise.race([this.#closed, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    await this.#closed;
  }

  #hear(text: string, isBinary: boolean): void {
    this.transcript.push(`<- ${isBinary ? "(binary) " : ""}${shorten(text)}`);
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      message = ["(not JSON)", text];
    }
    const list: Message = Array.isArray(message) ? message : ["(not an array)", message];
    this.received.push(list);
    const index = this.#waiters.findIndex((waiter) => waiter.wants(list));
    if (index < 0) this.#unread.push(list);
    else this.#waiters.splice(index, 1)[0]?.resolve(list);
  }

  #failure(reason: string): Error {
    return new Error(`${reason}\nsaid so far on ${this.url}:\n${this.transcript.slice(-60).join("\n")}`);
  }
}

export type NegAnswer = { readonly message: string; readonly error: undefined } | { readonly message: undefined; readonly error: string };

/** The server answered an upgrade with a plain response. */
export class UpgradeRefused extends Error {
  override readonly name = "UpgradeRefused";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(status: number, headers: Readonly<Record<string, string | string[] | undefined>>) {
    super(`upgrade refused with ${status}`);
    this.status = status;
    this.headers = headers;
  }
}
