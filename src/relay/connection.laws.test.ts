import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { checkLaws } from "../../test/kit/machine-laws.ts";
import { instant } from "../base/time.ts";
import { eventText } from "../nostr/event.ts";
import { reason } from "../nostr/reason.ts";
import { connectionMachine, openConnection, termsOf } from "./connection.ts";
import type { Connection, Effect, Input } from "./connection-state.ts";
import type { RelayLimits } from "./limits.ts";

const LIMITS: RelayLimits = {
  subscriptions: 3,
  subscriptionBytes: 400,
  subscriptionIdLength: 20,
  filtersPerRequest: 2,
  valuesPerRequest: 4,
  resultsMax: 50,
  resultsDefault: 20,
  messageBytes: 100_000,
  eventBytes: 300,
  negentropySessions: 2,
  negentropyItems: 100,
  eventsPerMinute: 15,
  queriesPerMinute: 15,
  messagesPerMinute: 25,
  authsPerMinute: 5,
  unansweredEvents: 3,
  pingAfterMs: 25_000,
  pongWithinMs: 20_000,
};

const START = instant(1_700_000_000_000);
const terms = termsOf(LIMITS, []);
const machine = connectionMachine(terms);
const initial = openConnection(terms, "challenge", START);

const sub = fc.constantFrom("a", "b", "c", "d", "x".repeat(30));
const epoch = fc.integer({ min: 0, max: 12 });
const filter = fc.constantFrom<unknown>(
  {},
  { kinds: [1] },
  { "#t": ["x".repeat(150)] },
  { kinds: [1, 2, 3, 4, 5] },
  { search: "x" },
  7,
  null,
);
const hex = fc.constantFrom("6100000200", "61", "xyz", "", 7);
const event = fc
  .integer({ min: 0, max: 5 })
  .map((n) => fakeEvent({ pubkey: fakeKey(n), kind: n === 5 ? 22_242 : 1, content: "y".repeat(n * 100) }));

const message = fc.oneof(
  fc.tuple(fc.constantFrom("REQ", "COUNT"), sub, filter),
  fc.tuple(fc.constant("REQ"), sub, filter, filter, filter),
  fc.tuple(fc.constantFrom("CLOSE", "NEG-CLOSE", "REQ", "NEG-MSG"), sub),
  fc.tuple(fc.constant("NEG-OPEN"), sub, filter, hex),
  fc.tuple(fc.constant("NEG-MSG"), sub, hex),
  fc.tuple(fc.constantFrom("AUTH", "EVENT"), fc.oneof(event, fc.jsonValue())),
  fc.array(fc.jsonValue(), { maxLength: 3 }),
);
const text = fc.oneof(
  { weight: 8, arbitrary: message.map((items) => JSON.stringify(items)) },
  { weight: 3, arbitrary: event.map((e) => `["EVENT",${eventText(e)}]`) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.constantFrom('["EVENT"', `["EVENT",${"[".repeat(100_000)}`, `[${"[".repeat(100_000)}`, "") },
);

const input: fc.Arbitrary<Input> = fc.oneof(
  { weight: 8, arbitrary: text.map((t) => ({ kind: "frame", text: t }) as const) },
  { weight: 1, arbitrary: text.map((t) => ({ kind: "crowding-frame", text: t }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "binary" } as const) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('["OK","",true,""]', '["OK","",false,"auth-required: x"]')
      .map((t) => ({ kind: "answered", text: t }) as const),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("proved"), event, problem: fc.constantFrom(undefined, "no") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("ended"), sub, epoch, reason: fc.constant(reason("error", "over")) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reconciled"), sub, epoch, text: fc.constant("[]"), over: fc.boolean() }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 600_000 }).map((ms) => ({ kind: "heard", at: instant(START + ms) }) as const) },
);

const isLate = (state: Connection, given: Input): boolean =>
  (given.kind === "ended" && state.subscriptions.get(given.sub)?.epoch !== given.epoch) ||
  (given.kind === "reconciled" && state.reconciliations.get(given.sub) !== given.epoch);

test("a connection keeps the laws of machines, whatever its client says and whatever comes late", () => {
  const { numRuns, seed } = runs(150);
  checkLaws<Connection, Input, Effect>({
    machine,
    initial,
    inputs: input,
    isLateAnswer: isLate,
    sizeOf: ({ subscriptions, reconciliations, authenticated }) => subscriptions.size + reconciliations.size + authenticated.length,
    sizeMax: LIMITS.subscriptions + LIMITS.negentropySessions + 6,
    gapMsMax: 10_000,
    runs: numRuns,
    seed,
  });
});

/** What a driver would know from the effects alone. */
class Driver {
  reading = true;
  readonly open = new Set<string>();
  readonly sessions = new Set<string>();
  submitted = 0;

  perform(effect: Effect): void {
    switch (effect.kind) {
      case "pause":
        expect(this.reading, "paused once").toBe(true);
        this.reading = false;
        return;
      case "resume":
        expect(this.reading, "resumed once").toBe(false);
        this.reading = true;
        return;
      case "query":
        expect(this.open.has(effect.sub), "the old one is forgotten first").toBe(false);
        this.open.add(effect.sub);
        return;
      case "forget":
        expect(this.open.delete(effect.sub), "only what is open is forgotten").toBe(true);
        return;
      case "reconcile":
        if (effect.filter === undefined) expect(this.sessions.has(effect.sub), "a message of an open session").toBe(true);
        else this.sessions.add(effect.sub);
        return;
      case "reconcile-end":
        expect(this.sessions.delete(effect.sub)).toBe(true);
        return;
      case "submit":
        this.submitted++;
        return;
      case "say":
        this.#hear(JSON.parse(effect.text) as unknown[]);
        return;
      default:
        return;
    }
  }

  /** NIP-01, NIP-77: what is said to be closed is closed. grasp.md 3.2: every refusal has a prefix. 3.4: words that peers fear. */
  #hear([verb, about, ...rest]: unknown[]): void {
    const words = String(rest.at(-1) ?? about);
    if (verb === "CLOSED" || verb === "NEG-ERR") expect(words).toMatch(/^(invalid|rate-limited|error|unsupported|closed): /);
    if (verb === "NEG-ERR") expect(this.sessions.has(String(about)), "nothing of it is left").toBe(false);
    if (verb === "NOTICE") {
      expect(words).toMatch(/^(invalid|rate-limited): /);
      expect(words).not.toMatch(/envelope|NEG-|negentropy|blocked|restricted/i);
    }
  }
}

/** Somebody waits for the answer, and it can be addressed. */
const WAITS = /^\["(?:(?:REQ|COUNT|NEG-OPEN|NEG-MSG)","|(?:EVENT|AUTH)",\{"id":"[0-9a-f]{64}")/;

test("the driver's view follows from the effects, and every message that wants an answer has one", () => {
  const moves = fc.array(fc.tuple(input, fc.integer({ min: 0, max: 1_000 })), { maxLength: 80, size: "max" });
  fc.assert(
    fc.property(moves, (walk) => {
      let state = initial;
      let now = START;
      const driver = new Driver();
      for (const [given, gap] of walk) {
        now = instant(now + gap);
        const woken = machine.wakeAt(state) <= now ? machine.step(state, { kind: "wake" }, now) : { state, effects: [] };
        const step = machine.step(woken.state, given, now);
        for (const effect of [...woken.effects, ...step.effects]) driver.perform(effect);
        state = step.state;
        expect(driver.reading).toBe(!state.paused);
        expect(driver.open).toEqual(new Set(state.subscriptions.keys()));
        expect(driver.sessions).toEqual(new Set(state.reconciliations.keys()));
        expect(state.subscriptionBytes).toBe([...state.subscriptions.values()].reduce((sum, { bytes }) => sum + bytes, 0));
        expect(state.subscriptionBytes).toBeLessThanOrEqual(LIMITS.subscriptionBytes);
        if (given.kind === "frame" && WAITS.test(given.text)) expect(step.effects, given.text).not.toEqual([]);
      }
    }),
    runs(150),
  );
});
