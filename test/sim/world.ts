import type { Oid } from "../../src/git/oid.ts";
import type { RefName } from "../../src/git/ref-name.ts";
import type { Identifier } from "../../src/grasp/identifier.ts";
import type { VerifiedEvent } from "../../src/nostr/event.ts";
import { ANNOUNCEMENT, PR, STATE } from "../../src/nostr/kinds.ts";
import { isNewer } from "../../src/settle/evidence.ts";
import { fakeEvent } from "../kit/arbitrary/fake-event.ts";
import { TestClock } from "../kit/test-clock.ts";
import { checkPushed, checkServed, checkStep, look } from "./checkers.ts";
import { Crash, SimServer } from "./sim-server.ts";
import { type Act, OBJECT_COUNT, PEOPLE, type Step } from "./step.ts";

export const OBJECTS: readonly Oid[] = Array.from({ length: OBJECT_COUNT }, (_, n) => `${n + 1}`.repeat(40) as Oid);
const IDENTIFIER = "hold" as Identifier;
const MINUTE_MS = 60_000;
const WAIT_SLICES = 4;

/** One server, a clock that moves only here, and everything that people ever signed. */
export class World {
  readonly clock = new TestClock();
  readonly server = new SimServer(this.clock, IDENTIFIER);
  readonly signed: VerifiedEvent[] = [];

  /** Takes one step, dies and starts again where it says so, and checks what must hold between any two steps. */
  async take(step: Step): Promise<void> {
    const before = await look(this.server);
    this.server.dieAfter(step.diesAfter);
    this.server.fail(step.fails);
    try {
      await this.#act(step.act, step.skew, step.fails !== undefined);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.server.dieAfter(undefined);
      await this.server.settle();
    }
    this.server.dieAfter(undefined);
    // What could not be aligned has promoted nothing; with the next change it is tried again.
    checkServed(before, await look(this.server));
    this.server.fail(undefined);
    await this.server.settle();
    await this.clock.advance(1000);
    checkStep(step.act, before, await look(this.server), this.signed);
  }

  /** Every object anybody could want arrives everywhere. */
  async bringEverything(): Promise<void> {
    for (const owner of PEOPLE) await this.server.deliver(owner, OBJECTS);
  }

  async #act(act: Act, skew: number, isFailing: boolean): Promise<void> {
    switch (act.kind) {
      case "announce":
        return await this.#publish(act.who, ANNOUNCEMENT, skew, [["maintainers", ...act.lists]]);
      case "sign": {
        const refs = act.refs.map(([name, oid]) => [`refs/heads/${name}`, OBJECTS[oid] as string]);
        return await this.#publish(act.who, STATE, skew, [
          ...refs,
          ...(act.head === undefined ? [] : [["HEAD", `ref: refs/heads/${act.head}`]]),
        ]);
      }
      case "propose":
        return await this.#publish(act.named, PR, skew, [
          ["a", `30617:${act.named}:${IDENTIFIER}`],
          ["c", OBJECTS[act.oid] as string],
        ]);
      case "push": {
        const evidence = await this.server.evidence();
        const repository = evidence.repositories.find(({ owner }) => owner === act.owner);
        // Strangers' states are refused everywhere alike: one try in four is enough of them.
        const mine = evidence.states.filter(({ state }) => act.pick % 4 === 0 || repository?.maintainers.confirmed.has(state.author));
        const states = mine.toSorted((a, b) => (isNewer(a.state, b.state) ? -1 : 1)).slice(0, 4);
        const state = states[act.pick % Math.max(1, states.length)]?.state;
        if (state === undefined) return;
        const present = this.server.host.repository(act.owner).refs.refs.keys();
        const all = [...new Set([...state.refs.keys(), ...[...present].filter((ref) => ref.startsWith("refs/heads/"))])];
        const refs = act.part === "whole" ? all : act.part.map((name) => `refs/heads/${name}` as RefName);
        const isTaken = await this.server.push(act.owner, state.id, refs);
        if (isTaken && !isFailing) checkPushed(state, refs, this.server.host.repository(act.owner));
        return;
      }
      case "deliver":
        return this.server.deliver(
          act.owner,
          act.oids.map((n) => OBJECTS[n] as Oid),
        );
      case "erase": {
        // A repository whose announcement is deleted is retired, which is not settling's to do (grasp.md 11.4).
        const { states, pullRequests } = await this.server.evidence();
        const served = states.filter(({ standing }) => act.pick % 2 === 0 || standing === "served").map(({ state }) => state.id);
        const ids = [...served, ...pullRequests.map(({ request }) => request.id)].toSorted();
        const id = ids[act.pick % Math.max(1, ids.length)];
        if (id !== undefined) await this.server.erase(id);
        return;
      }
      case "wait":
        // What expires may let other things expire later.
        for (let slice = 0; slice < WAIT_SLICES; slice++) {
          await this.clock.advance((act.minutes / WAIT_SLICES) * MINUTE_MS);
          await this.server.expire();
        }
        return;
    }
  }

  async #publish(pubkey: VerifiedEvent["pubkey"], kind: number, skew: number, tags: readonly (readonly string[])[]): Promise<void> {
    const d = kind === PR ? [] : [["d", IDENTIFIER]];
    const event = fakeEvent({ pubkey, kind, created_at: this.server.now + skew, tags: [...d, ...tags], content: `${this.signed.length}` });
    this.signed.push(event);
    await this.server.publish(event);
  }
}
