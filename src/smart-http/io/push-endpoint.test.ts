import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { commit } from "../../../test/kit/git-rig.ts";
import { PushRig, type PushRigOptions, stateOf } from "../../../test/kit/push-rig.ts";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import { FaultError } from "../../base/fault.ts";
import { slotLimits } from "../../git/io/git-slots.ts";
import type { Oid } from "../../git/oid.ts";
import { PUSH_LIMITS } from "./push-limits.ts";

let rig: PushRig;
const open = async (options?: PushRigOptions): Promise<PushRig> => {
  rig = await PushRig.open(options);
  return rig;
};
afterEach(async () => {
  await rig.idle();
  expect(rig.leftInQuarantine()).toEqual([]);
  expect(rig.rig.slots.running).toBe(0);
  await rig[Symbol.asyncDispose]();
});

/** Longer than a busy machine needs; it is only ever waited out by a test that fails. */
const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const ZERO = "0".repeat(40);
const ID = "1".repeat(40);
const pkt = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
const list = (...lines: readonly string[]): string => `${lines.map(pkt).join("")}0000`;
const REPORT = "report-status";
const BANDS = "report-status side-band-64k";

/** A push of one commit to `refs/heads/main` that a state allows. */
function allowedPush(capabilities = REPORT, content = "one"): { readonly body: Buffer; readonly tip: Oid } {
  const tip = commit(rig.work, content);
  rig.host.states.push(stateOf({ "refs/heads/main": tip }));
  return { tip, body: Buffer.concat([Buffer.from(list(`${ZERO} ${tip} refs/heads/main\0${capabilities}`)), rig.packOf([tip])]) };
}

const OK = "000eunpack ok\n0017ok refs/heads/main\n0000";
const bandOne = (text: string): string => `${pkt(`\u0001${text}`)}0000`;

describe("the grammar of a push fails closed (grasp.md 7.4, 7.11)", () => {
  it("the four bytes 0000 are answered 200 and do nothing", async () => {
    await open();
    const { status, body, headers } = await rig.post("0000");
    expect([status, body, headers.get("content-type")]).toEqual([200, "", "application/x-git-receive-pack-result"]);
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(rig.host.log).toEqual([]);
    rig.host.isKnown = false;
    expect((await rig.post("0000")).status).toBe(404);
  });

  const wrong: readonly (readonly [name: string, body: string, answer: string])[] = [
    ["an empty body", "", "ends before its flush"],
    ["more than the probe", "00000000", "has no commands"],
    ["a pack without commands", "0000PACK", "has no commands"],
    ["a list that is cut short", pkt(`${ZERO} ${ID} refs/heads/main\0${REPORT}`), "ends before its flush"],
    ["no pkt-lines", "hello world", "not made of pkt-lines"],
    ["push-cert", list(`push-cert\0${REPORT}`), "signed pushes are not taken"],
    ["push options", list(`${ZERO} ${ID} refs/heads/main\0${REPORT} push-options`), "push options are not taken"],
    ["a bad id", list(`${ZERO} ${"G".repeat(40)} refs/heads/main\0${REPORT}`), "not an object id"],
    ["two spaces", list(`${ZERO}  ${ID} refs/heads/main\0${REPORT}`), "neither a command nor a shallow line"],
    ["a ref outside", list(`${ZERO} ${ID} refs/notes/x\0${REPORT}`), "only refs/heads/"],
    ["a ref twice", list(`${ZERO} ${ID} refs/heads/a\0${REPORT}`, `${ZERO} ${ID} refs/heads/a`), "names a ref twice"],
    ["too many commands", list(...Array.from({ length: 2_001 }, (_, n) => `${ZERO} ${ID} refs/heads/b${n}`)), "too many commands"],
    ["shallow lines only", list(`shallow ${ID}`), "has no commands"],
  ];
  it.each(wrong)("%s", async (_, body, answer) => {
    await open();
    const got = await rig.post(body);
    expect([got.status, got.headers.get("connection")]).toEqual([200, "close"]);
    expect(got.body).toContain("ERR authorisation failed: ");
    expect(got.body).toContain(answer);
    expect(rig.host.log).toEqual([]);
  });

  it("inside band 3 when it was negotiated", async () => {
    await open();
    const { body } = await rig.post(list(`${ZERO} ${ID} refs/notes/x\0${BANDS}`));
    expect(body.slice(4)).toMatch(/^.ERR authorisation failed: [^\n]+0000$/s);
    expect(body.charCodeAt(4)).toBe(3);
  });

  it("zero to zero never reaches git (grasp.md 7.6)", async () => {
    await open();
    const { body } = await rig.post(list(`${ZERO} ${ZERO} refs/heads/main\0${REPORT}`));
    expect(body).toBe(`000eunpack ok\n${pkt("ng refs/heads/main the old and the new value are both zero\n")}0000`);
    expect(rig.host.log).toEqual([]);
  });

  it("a repository that is not here", async () => {
    await open();
    const { body } = allowedPush();
    rig.host.isKnown = false;
    expect((await rig.post(body)).status).toBe(404);
  });
});

it("a refusal is told to clients that want no report too", async () => {
  await open();
  const plain = await rig.post(list(`${ZERO} ${ID} refs/heads/main\0`));
  expect(plain.body).toMatch(/^[0-9a-f]{4}ERR authorisation failed: no state event/);
  const banded = await rig.post(list(`${ZERO} ${ID} refs/heads/main\0side-band-64k`));
  expect(banded.body).toContain("\u0003ERR authorisation failed: no state event");
});

describe("bodies (grasp.md 7.2)", () => {
  it("plain, gzip'd, with and without a side-band", async () => {
    await open();
    const { body, tip } = allowedPush();
    expect(await rig.post(body)).toMatchObject({ status: 200, body: OK });
    expect(await rig.post(gzipSync(body), { "Content-Encoding": "gzip" })).toMatchObject({ status: 200, body: OK });
    expect(rig.refs()).toEqual({ "refs/heads/main": tip });
    const other = allowedPush(BANDS, "other");
    expect(await rig.post(gzipSync(other.body), { "Content-Encoding": "gzip" })).toMatchObject({ body: bandOne(OK) });
    expect(rig.refs()).toEqual({ "refs/heads/main": other.tip });
  });

  it("a client that wants no report gets an empty answer", async () => {
    await open();
    const { body, tip } = allowedPush("");
    expect(await rig.post(body)).toMatchObject({ status: 200, body: "" });
    expect(rig.refs()).toEqual({ "refs/heads/main": tip });
  });

  it("a gzip that is none, one that breaks off, an encoding that nobody knows", async () => {
    await open();
    const { body } = allowedPush();
    expect((await rig.post(body, { "Content-Encoding": "gzip" })).status).toBe(400);
    // Noise, so that the list is whole before the gzip breaks.
    const long = allowedPush(REPORT, Array.from({ length: 50_000 }, (_, n) => Math.imul(n, 2_654_435_761).toString(36)).join(""));
    expect((await rig.post(gzipSync(long.body).subarray(0, 150_000), { "Content-Encoding": "gzip" })).status).toBe(400);
    expect((await rig.post(body, { "Content-Encoding": "br" })).status).toBe(415);
    expect([rig.refs(), rig.packs(), rig.faults]).toEqual([{}, 0, []]);
  });

  it("Expect: 100-continue is told to go on", async () => {
    await open();
    const { body, tip } = allowedPush();
    const asked = httpRequest(`${rig.url}/git-receive-pack`, {
      method: "POST",
      headers: { Expect: "100-continue", "Content-Length": body.length },
    });
    asked.flushHeaders();
    await once(asked, "continue");
    asked.end(body);
    const [response] = await once(asked, "response");
    expect(response.statusCode).toBe(200);
    response.resume();
    await once(response, "end");
    expect(rig.refs()).toEqual({ "refs/heads/main": tip });
  });

  it("a pack that is broken, cut off or none: unpack says why", async () => {
    await open();
    const { body } = allowedPush();
    const cut = await rig.post(body.subarray(0, -10));
    expect(cut.body).toMatch(/^[0-9a-f]{4}unpack (?!ok).+\n[0-9a-f]{4}ng refs\/heads\/main the pack was not accepted\n0000$/);
    const noPack = await rig.post(Buffer.concat([body.subarray(0, body.indexOf("PACK")), Buffer.alloc(100, "no pack at all")]));
    expect(noPack.body).toContain("unpack This does not begin like a pack.");
    expect([rig.refs(), rig.packs()]).toEqual([{}, 0]);
  });

  it("what follows a pack is passed over, as git does", async () => {
    await open();
    const { body, tip } = allowedPush();
    expect(await rig.post(Buffer.concat([body, Buffer.alloc(300_000, "and more")]))).toMatchObject({ status: 200, body: OK });
    expect([rig.refs(), rig.faults]).toEqual([{ "refs/heads/main": tip }, []]);
  });

  it("a body that goes on when git has its pack is read to its end before the lane", async () => {
    const clock = new TestClock();
    await open({ clock });
    const { body } = allowedPush();
    const socket = await rig.begin(body, body.length + 1);
    const heard = untilClosed(socket);
    await eventually(() => clock.nextAt !== undefined && clock.nextAt - clock.now() === 30_000).toBe(true);
    expect(rig.host.log).toEqual(["open"]);
    socket.write("x");
    await eventually(() => socket.bytesRead).toBeGreaterThan(0);
    socket.end();
    const text = await heard;
    expect([text.includes(OK), text.includes("Connection: close")]).toEqual([true, false]);
  });

  it("too many pushes of one address are told 429 with Retry-After (grasp.md 7.11)", async () => {
    await open({ limits: { ...PUSH_LIMITS, perAddressMax: 1 } });
    const { body } = allowedPush();
    const socket = await rig.begin(body.subarray(0, 20), body.length);
    await eventually(() => rig.requests.length).toBe(1);
    const { status, headers } = await rig.post(body);
    expect([status, headers.get("retry-after")]).toEqual([429, "15"]);
    socket.destroy();
    await rig.idle();
    expect(await rig.post(body)).toMatchObject({ status: 200, body: OK });
  });

  it("what is busy is told 503, what fails 500, and only that is reported", async () => {
    await open();
    const { body } = allowedPush();
    rig.host.beforeLane = () => Promise.reject(new FaultError({ kind: "busy", what: "lane" }));
    expect((await rig.post(body)).status).toBe(503);
    expect(rig.faults).toEqual([]);
    const trouble = new Error("a disk that is gone");
    rig.host.beforeLane = () => Promise.reject(trouble);
    expect((await rig.post(body)).status).toBe(500);
    expect(rig.faults).toEqual([trouble]);
  });
});

/** All that comes until the connection ends. */
async function untilClosed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

describe("the report waits for the events (grasp.md 7.12)", () => {
  const WAITING = "Waiting until the events of this push can be queried.\n";

  it("with a line every 5 s, then the report and its end", async () => {
    const clock = new TestClock();
    await open({ clock });
    const { body, tip } = allowedPush(BANDS);
    const settle = Promise.withResolvers<void>();
    rig.host.settling = () => settle.promise;
    const answer = rig.post(body);
    await eventually(() => rig.host.log.at(-1)).toBe("settle");
    expect(rig.refs()).toEqual({ "refs/heads/main": tip });
    await clock.advance(12_000);
    settle.resolve();
    expect((await answer).body).toBe(pkt(`\u0002${WAITING}`).repeat(2) + bandOne(OK));
    expect(clock.pending).toBe(0);
  });

  it("lines come while a push waits for the lane too, but never before its body is over", async () => {
    const clock = new TestClock();
    await open({ clock });
    const { body } = allowedPush(BANDS);
    const gate = Promise.withResolvers<void>();
    rig.host.beforeLane = () => gate.promise;
    const socket = await rig.begin(body.subarray(0, -10), body.length);
    const heard = untilClosed(socket);
    await eventually(() => rig.leftInQuarantine().length).toBe(1);
    await clock.advance(20_000);
    expect(socket.bytesRead).toBe(0);
    socket.write(body.subarray(-10));
    await eventually(() => rig.host.log.at(-1)).toBe("lane");
    await clock.advance(5_000);
    gate.resolve();
    const text = await heard;
    expect(text.split("\u0002Waiting for another change of this repository.\n")).toHaveLength(2);
    expect(text).toContain(OK);
  });

  it.each([BANDS, REPORT])("60 s after the refs moved the stream is cut without one (%s)", async (capabilities) => {
    const clock = new TestClock();
    await open({ clock });
    const { body, tip } = allowedPush(capabilities);
    rig.host.settling = () => new Promise(() => undefined);
    const socket = await rig.begin(body, body.length);
    const heard = untilClosed(socket);
    await eventually(() => rig.host.log.at(-1)).toBe("settle");
    await clock.advance(59_999);
    expect(socket.closed).toBe(false);
    await clock.advance(1);
    const text = await heard;
    expect(text.startsWith("HTTP/1.1 200 OK\r\n")).toBe(true);
    expect([text.includes("unpack"), text.endsWith("0000"), text.endsWith("\r\n0\r\n\r\n")]).toEqual([false, false, false]);
    expect(rig.refs()).toEqual({ "refs/heads/main": tip });
  });

  it("and so it is when settling, or moving the refs, fails", async () => {
    await open();
    const { body } = allowedPush();
    const trouble = new Error("the store is gone");
    rig.host.settling = () => Promise.reject(trouble);
    for (const _ of [1, 2]) {
      const text = await untilClosed(await rig.begin(body, body.length));
      expect([text.startsWith("HTTP/1.1 200"), text.includes("unpack")]).toEqual([true, false]);
    }
    rig.host.beforeMove = () => Promise.reject(trouble);
    const next = allowedPush(REPORT, "next");
    const text = await untilClosed(await rig.begin(next.body, next.body.length));
    expect([text.startsWith("HTTP/1.1 200"), text.includes("unpack")]).toEqual([true, false]);
    expect(rig.faults).toEqual([trouble, trouble, trouble]);
  });
});

/** Processes whose command line names this directory in their environment: those that git was started for. */
function gitProcesses(directory: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "latin1").includes(`GIT_QUARANTINE_PATH=${directory}`);
    } catch {
      return false;
    }
  }).length;
}

describe("clients that go, or stand still", () => {
  it("one that vanishes leaves no process and no directory (grasp.md 7.2)", async () => {
    await open();
    const { body } = allowedPush(REPORT, Array.from({ length: 50_000 }, (_, n) => Math.imul(n, 2_654_435_761).toString(36)).join(""));
    const socket = await rig.begin(body.subarray(0, -1_000), body.length);
    await eventually(() => gitProcesses(rig.host.quarantines)).toBeGreaterThan(0);
    expect(rig.leftInQuarantine()).toHaveLength(1);
    socket.destroy();
    await rig.idle();
    expect([rig.leftInQuarantine(), rig.refs(), rig.packs(), rig.faults]).toEqual([[], {}, 0, []]);
    await eventually(() => gitProcesses(rig.host.quarantines)).toBe(0);
  });

  it("one that vanishes while its push waits for a git process waits no longer", async () => {
    await open();
    const { body } = allowedPush();
    const slots = await Promise.all(Array.from({ length: slotLimits(2).perAddressMax }, () => rig.rig.slots.take("push", "client")));
    const socket = await rig.begin(body, body.length);
    await eventually(() => rig.rig.slots.waiting).toBe(1);
    socket.destroy();
    await rig.idle();
    for (const giveBack of slots) giveBack();
    expect([rig.leftInQuarantine(), rig.refs(), rig.faults]).toEqual([[], {}, []]);
  });

  it("one that vanishes while its push waits for the lane changes nothing", async () => {
    await open();
    const { body } = allowedPush();
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const held = rig.host.inLane(
      {} as never,
      () => Promise.resolve(entered.resolve()).then(() => gate.promise),
      new AbortController().signal,
    );
    await entered.promise;
    const socket = await rig.begin(body, body.length);
    await eventually(() => rig.host.log.filter((step) => step === "lane").length).toBe(2);
    socket.destroy();
    await rig.idle();
    gate.resolve();
    await held;
    expect([rig.refs(), rig.packs(), rig.faults]).toEqual([{}, 0, []]);
  });

  it("one that vanishes after the refs began to move: the push is finished and settled", async () => {
    await open();
    const { body, tip } = allowedPush();
    const gate = Promise.withResolvers<void>();
    rig.host.beforeMove = () => {
      rig.host.log.push("moving");
      return gate.promise;
    };
    const socket = await rig.begin(body, body.length);
    await eventually(() => rig.host.log.at(-1)).toBe("moving");
    socket.destroy();
    await once(socket, "close");
    gate.resolve();
    await rig.idle();
    expect([rig.refs(), rig.host.log.at(-1), rig.faults]).toEqual([{ "refs/heads/main": tip }, "settle", []]);
  });

  it("one that sends no command list is told 408, one that sends no pack too (grasp.md 7.16)", async () => {
    const clock = new TestClock();
    await open({ clock });
    const { body } = allowedPush();
    const silent = untilClosed(await rig.begin(body.subarray(0, 30), body.length));
    await eventually(() => clock.pending).toBe(1);
    await clock.advance(60_000);
    expect(await silent).toContain("HTTP/1.1 408");
    const dripping = untilClosed(await rig.begin(body.subarray(0, body.indexOf("PACK")), body.length));
    await eventually(() => rig.leftInQuarantine().length).toBe(1);
    await eventually(() => clock.pending).toBe(1);
    await clock.advance(PUSH_LIMITS.silenceMs);
    expect(await dripping).toContain("HTTP/1.1 408");
  });

  it("one that sends more than 64 MiB of a refused push is answered before the end (grasp.md 7.11)", async () => {
    await open();
    const head = Buffer.from(list(`${ZERO} ${ID} refs/heads/main\0${REPORT}`));
    const socket = await rig.begin(head, 1024 ** 3);
    const heard = untilClosed(socket);
    const [mebibyte, drained] = [Buffer.alloc(1024 * 1024), 65];
    for (let n = 0; n < drained && !socket.destroyed; n++) if (!socket.write(mebibyte)) await Promise.race([once(socket, "drain"), heard]);
    expect(await heard).toContain("ng refs/heads/main no state event");
  });

  it("one whose push is refused is heard out for 30 s, answered and closed (grasp.md 7.11)", async () => {
    const clock = new TestClock();
    await open({ clock });
    const refusedPush = list(`${ZERO} ${ID} refs/heads/main\0${REPORT}`);
    const socket = await rig.begin(Buffer.from(refusedPush), 1_000_000);
    const heard = untilClosed(socket);
    await eventually(() => clock.nextAt !== undefined && clock.nextAt - clock.now() === 30_000).toBe(true);
    await clock.advance(29_999);
    await settled();
    expect(socket.bytesRead).toBe(0);
    await clock.advance(1);
    const text = await heard;
    expect(text).toContain("Connection: close");
    expect(text).toContain("unpack ok\n");
    expect(text).toContain("ng refs/heads/main no state event");
  });
});
