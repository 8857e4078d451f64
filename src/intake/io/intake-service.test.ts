import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { deletion, mine, note, repositoryAnnouncement, sign, signWithId, vanish, type WireEvent } from "../../../test/kit/event-builder.ts";
import { alice, bob, mallory } from "../../../test/kit/keys.ts";
import { rulesWith } from "../../../test/kit/rules.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import type { Rules } from "../../policy/rules.ts";
import type { Batch } from "../../store/batch.ts";
import type { FeedChange } from "../../store/event-store.ts";
import type { Answer } from "../inspect.ts";
import { ANONYMOUS } from "../origin.ts";
import { type IntakeOptions, IntakeService } from "./intake-service.ts";

const RULES = rulesWith({ places: [{ hostname: "relay.example", port: undefined, basePath: "" }] });
const LONG = 1e10;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-intake-"));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A service with real threads on a real directory, and everything it said in the order in which it said it. */
class World {
  readonly service: IntakeService;
  readonly said: string[];
  readonly changes: FeedChange[];
  readonly passing: string[];
  #stopped = false;

  private constructor(service: IntakeService, heard: Pick<World, "said" | "changes" | "passing">) {
    this.service = service;
    this.said = heard.said;
    this.changes = heard.changes;
    this.passing = heard.passing;
  }

  static async start(options: Partial<IntakeOptions> = {}): Promise<World> {
    const heard = { said: [] as string[], changes: [] as FeedChange[], passing: [] as string[] };
    const service = await IntakeService.start(
      {
        directory: options.directory ?? directory(),
        rules: RULES,
        retentions: { unusedServedMs: LONG, unusedGateMs: LONG, usedServedMs: LONG, usedGateMs: LONG },
        verifyWorkers: 2,
        waitingMax: 1_000,
        waitingBytesMax: 10_000_000,
        gatesEveryMs: LONG,
        ...options,
      },
      {
        changed: (changes, passing) => {
          for (const change of changes) heard.said.push(`${change.change} ${change.change === "served" ? change.event.id : change.id}`);
          heard.changes.push(...changes);
          heard.passing.push(...passing);
        },
        evidence: (identifiers) => void heard.said.push(`evidence ${identifiers.join(" ")}`),
        fault: (text) => void heard.said.push(`fault ${text}`),
        died: (error) => void heard.said.push(`died ${error.message}`),
      },
    );
    const world = new World(service, heard);
    cleanups.push(() => world.stop());
    return world;
  }

  submit(event: unknown, lane = 1): Promise<Answer> | undefined {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const frame = typeof event === "string" ? event : JSON.stringify(["EVENT", event]);
    const taken = this.service.submit(frame, ANONYMOUS, lane, (given) => {
      this.said.push(given.kind === "ok" ? `${given.accepted} ${given.id} ${given.message}` : `notice ${given.text}`);
      resolve(given);
    });
    return taken ? promise : undefined;
  }

  async words(event: WireEvent, lane = 1): Promise<string> {
    const answer = await this.submit(event, lane);
    return answer?.kind === "ok" ? `${answer.accepted} ${answer.message}` : "nothing";
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.service[Symbol.asyncDispose]();
  }
}

describe("the door, with its threads", () => {
  test("answers, then says what changed; each of its kind", async () => {
    const world = await World.start();
    const good = note(alice, "good");
    expect(await world.submit(good)).toEqual({ kind: "ok", id: good.id, eventKind: 1, accepted: true, message: "" });
    await expect.poll(() => world.changes.length).toBe(1);
    expect(world.said, "grasp.md 3.2: the OK first, then the broadcast").toEqual([`true ${good.id} `, `served ${good.id}`]);
    expect(world.changes[0]).toMatchObject({ seq: 1, event: { text: JSON.stringify(good) } });
    expect(await world.words(good)).toBe("true duplicate: already have this event");
    expect(await world.words({ ...good, content: "bad" })).toBe("true duplicate: already have this event");
    expect(await world.words({ ...note(alice, "x"), content: "y" })).toBe("false invalid: event id does not match its content");
    expect(await world.words(signWithId(mallory, {}, "ab".repeat(32)))).toBe("false invalid: event id does not match its content");
    expect(await world.submit('["EVENT",{}]')).toEqual({ kind: "notice", text: "invalid: id must be 64 lower-case hex digits" });
    const passing = sign(alice, { kind: 20_001, content: "now" });
    expect(await world.words(passing)).toBe("true ");
    await expect.poll(() => world.passing).toEqual([JSON.stringify(passing)]);
    expect(world.changes).toHaveLength(1);
  });

  test("events of one lane are decided in the order in which they came, however many lanes there are", async () => {
    const world = await World.start();
    const answers: Promise<string>[] = [];
    const expected: string[] = [];
    for (let lane = 0; lane < 6; lane++) {
      const who = lane % 2 === 0 ? alice : bob;
      const first = note(who, `lane ${lane}`);
      const gone = deletion(who, [first.id]);
      const versions = [1, 2, 3].map((n) =>
        sign(who, { kind: 30_000, tags: [["d", `${lane}`]], created_at: 1_000 + n, content: `${n}` }),
      ) as [WireEvent, WireEvent, WireEvent];
      for (const event of [first, gone, first, versions[0], versions[2], versions[1]]) answers.push(world.words(event, lane));
      expected.push(
        "true ",
        "true ",
        "false invalid: this event is deleted",
        "true ",
        "true ",
        "true duplicate: superseded by a newer event",
      );
    }
    expect(await Promise.all(answers)).toEqual(expected);
    await expect
      .poll(() => world.changes.map(({ seq }) => Number(seq)))
      .toEqual(Array.from({ length: world.changes.length }, (_, n) => n + 1));
    expect(world.changes.length).toBeGreaterThan(6 * 5);
  });

  test("proves events that are not to be stored", async () => {
    const world = await World.start({ verifyWorkers: 1 });
    const event = sign(alice, { kind: 22_242 });
    expect(await world.service.prove(event)).toBeUndefined();
    expect(await world.service.prove({ ...event, content: "x" })).toBe("event id does not match its content");
    expect(await world.service.prove({ ...event, sig: note(bob, "").sig })).toBe("signature is not valid");
    expect(await world.service.prove("nonsense")).toBe("an event is a JSON object");
    expect(world.service.verifierName).not.toBe("");
  });

  test("a stop answers everything that was taken, takes nothing more, and a second start sees what was answered", async () => {
    const path = directory();
    const world = await World.start({ directory: path });
    const events = Array.from({ length: 200 }, (_, n) => note(alice, `${n}`));
    const answers = events.map((event, lane) => world.words(event, lane));
    const stopped = world.stop();
    expect(world.submit(note(bob, "too late"))).toBeUndefined();
    await stopped;
    expect(world.service.waiting).toBe(0);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["true "]));
    expect(world.said.filter((line) => line.startsWith("died"))).toEqual([]);
    expect(
      readdirSync(path).filter((name) => name.endsWith("-wal")),
      "the last to close leaves no log behind",
    ).toEqual([]);
    const again = await World.start({ directory: path });
    expect(await again.words(events[0] as WireEvent)).toBe("true duplicate: already have this event");
    expect(await again.words(note(alice, "new"))).toBe("true ");
    await expect.poll(() => again.changes[0]?.seq).toBe(201);
  });

  test("grasp.md 3.3: beyond what may wait nothing is taken, and room comes back", async () => {
    const world = await World.start({ waitingMax: 3, waitingBytesMax: 2_000, verifyWorkers: 1 });
    const taken = [1, 2, 3, 4].map((n) => world.submit(note(alice, `${n}`)));
    expect(taken.map((answer) => answer !== undefined)).toEqual([true, true, true, false]);
    for (const answer of taken) await answer;
    expect(world.service.waiting).toBe(0);
    expect(world.submit(note(alice, "x".repeat(2_000))), "one that is larger than all that may wait").toBeUndefined();
    const large = world.submit(note(alice, "x".repeat(1_000)));
    expect(large).toBeDefined();
    expect(world.submit(note(alice, "y".repeat(1_000))), "bytes count too").toBeUndefined();
    await large;
    expect(await world.words(note(alice, "5"))).toBe("true ");
  });

  test("the rules reach the threads: work is asked for before the signature, authors are blocked", async () => {
    const world = await World.start({
      rules: { ...RULES, minPow: 4, blockedAuthors: [mallory.pubkey as Rules["blockedAuthors"][number]] },
      verifyWorkers: 1,
    });
    expect(await world.words(mine(alice, {}, (bits) => bits < 4, undefined))).toMatch(/^false pow: /);
    expect(await world.words(mine(alice, {}, (bits) => bits >= 4, 4))).toBe("true ");
    expect(await world.words(mine(mallory, {}, (bits) => bits >= 4, 4))).toMatch(/^false blocked: /);
  });

  test("NIP-40 and NIP-62: the sweeper of the thread removes what time or a vanish ends", async () => {
    const world = await World.start({ verifyWorkers: 1 });
    const soon = note(alice, "soon over", { tags: [["expiration", `${Math.floor(Date.now() / 1_000) + 2}`]] });
    expect(await world.words(soon)).toBe("true ");
    await expect.poll(() => world.said.includes(`removed ${soon.id}`), { timeout: 10_000, interval: 50 }).toBe(true);
    const mallorys = note(mallory, "here");
    await world.words(mallorys);
    expect(await world.words(vanish(mallory, ["wss://relay.example"]))).toBe("true ");
    await expect.poll(() => world.said.includes(`removed ${mallorys.id}`)).toBe(true);
    expect(await world.words(mallorys)).toBe("false invalid: this pubkey has requested to vanish");
  });

  test("grasp.md 6.6: evidence is told after what changed, and what was held is promoted through the one writer", async () => {
    const path = directory();
    const world = await World.start({ directory: path, rules: { ...RULES, acceptance: "grasp", purgatory: true } });
    const announcement = repositoryAnnouncement(alice, "hold", {
      clone: [`https://relay.example/${encodeNpub(alice.pubkey as PublicKey)}/hold.git`],
    });
    const { id } = announcement;
    expect(await world.words(announcement)).toBe("true purgatory: won't be served until git data arrives");
    await expect
      .poll(() => world.said)
      .toEqual([`true ${id} purgatory: won't be served until git data arrives`, `held ${id}`, "evidence hold"]);
    expect(await world.words(announcement)).toBe("true duplicate: in purgatory");
    world.said.splice(0);
    const changes = await world.service.apply([{ kind: "promote", id: id as EventId }]);
    expect(changes.map(({ change }) => change)).toEqual(["served"]);
    expect(world.said.at(-1), "the listener was told before").toBe(`served ${id}`);
    expect(await world.words(announcement)).toBe("true duplicate: already have this event");
    expect(await world.service.apply([{ kind: "promote", id: id as EventId }]), "once more does nothing").toEqual([]);
    await world.stop();
    const again = await World.start({ directory: path });
    expect(await again.words(announcement), "it is on disk").toBe("true duplicate: already have this event");
  });

  test("batches come between events in the order in which they were handed over, numbered with them, and a stop waits for them", async () => {
    const path = directory();
    const world = await World.start({ directory: path, verifyWorkers: 1 });
    const events = Array.from({ length: 100 }, (_, n) => note(alice, `${n}`));
    const put = (event: WireEvent): Batch => {
      const own = event as unknown as VerifiedEvent;
      return [{ kind: "put", event: own, text: JSON.stringify(event), expiresAt: undefined, provenance: { how: "direct" } }];
    };
    const others = Array.from({ length: 100 }, (_, n) => note(bob, `${n}`));
    const first = world.service.apply(put(others[0] as WireEvent));
    const second = world.service.apply([{ kind: "remove", id: others[0]?.id as EventId }]);
    const answers = events.map((event) => world.words(event));
    const applied = others.slice(1).map((event) => world.service.apply(put(event)));
    const stopped = world.stop();
    await expect(world.service.apply([]), "a server that stops takes nothing more").rejects.toThrow(/stopping/);
    await stopped;
    expect((await first).map(({ change, seq }) => [change, Number(seq)])).toEqual([["served", 1]]);
    expect((await second).map(({ change, seq }) => [change, Number(seq)])).toEqual([["removed", 2]]);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["true "]));
    expect((await Promise.all(applied)).map((changes) => changes.length)).toEqual(others.slice(1).map(() => 1));
    expect(world.changes.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: 201 }, (_, n) => n + 1));
  });

  test("a batch that cannot be done does nothing, says so, and takes nothing else with it", async () => {
    const world = await World.start({ verifyWorkers: 1 });
    const event = note(alice, "good");
    const broken = [
      { kind: "put", event, text: JSON.stringify(event), expiresAt: undefined, provenance: { how: "direct" } },
      { kind: "put", event: { ...note(alice, "bad"), created_at: {} }, text: "", expiresAt: undefined, provenance: { how: "direct" } },
    ];
    await expect(world.service.apply(broken as unknown as Batch)).rejects.toThrow();
    expect(world.changes).toEqual([]);
    expect(await world.words(event), "nothing of it was kept").toBe("true ");
    expect(world.said.filter((line) => line.startsWith("died"))).toEqual([]);
  });

  test("a place that cannot be a store is a failed start", async () => {
    const plain = join(directory(), "plain");
    writeFileSync(plain, "");
    await expect(World.start({ directory: plain })).rejects.toThrow();
  });
});
