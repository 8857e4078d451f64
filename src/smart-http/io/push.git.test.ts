import { afterEach, describe, expect, it } from "vitest";
import { commit, git, oid } from "../../../test/kit/git-rig.ts";
import { ALICE, MALLORY, PushRig, type PushRigOptions, stateOf } from "../../../test/kit/push-rig.ts";
import type { Oid } from "../../git/oid.ts";
import type { EventId } from "../../nostr/event.ts";
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

/** A state of these refs; then they are pushed. */
async function allowed(refs: Record<string, Oid>, ...more: string[]) {
  rig.host.states.push(stateOf(refs));
  return rig.push([rig.url, ...more, ...Object.entries(refs).map(([name, value]) => `${value}:${name}`)]);
}

describe("real git pushes what a state declares (grasp.md 7.5, 7.10, 7.12)", () => {
  for (const version of [0, 1, 2])
    for (const isWithoutSideBand of [false, true])
      it(`protocol ${version}, ${isWithoutSideBand ? "without" : "with"} a side-band`, async () => {
        await open({ isWithoutSideBand });
        const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
        rig.host.states.push(stateOf({ "refs/heads/main": one, "refs/heads/next": two }));
        const pushed = await rig.push([rig.url, `${one}:refs/heads/main`, `${two}:refs/heads/next`], [`protocol.version=${version}`]);
        expect(pushed).toMatchObject({ code: 0 });
        expect(rig.refs()).toEqual({ "refs/heads/main": one, "refs/heads/next": two });
        expect(git(["fsck", "--strict"], { cwd: rig.host.gitDir })).toBe("");
        expect(rig.host.log).toEqual(["open", "lane", "overlay", "move", "settle"]);
        rig.host.states = [];
        const refused = await rig.push([rig.url, `+${one}:refs/heads/next`], [`protocol.version=${version}`]);
        expect(refused.code).toBe(1);
        expect(refused.stdout.toString()).toContain(`!\t${one}:refs/heads/next\t[remote rejected] (no state event of a maintainer`);
        expect(refused.stderr.includes("remote: Nothing was changed.")).toBe(!isWithoutSideBand);
        expect(rig.refs()["refs/heads/next"]).toBe(two);
      });

  it("--atomic, annotated tags, a forced move, a delete", async () => {
    await open();
    const [one, other] = [commit(rig.work, "one"), commit(rig.work, "other")];
    git(["tag", "-a", "-m", "first", "v1", one], { cwd: rig.work });
    const tag = oid(git(["rev-parse", "v1"], { cwd: rig.work }));
    expect(await allowed({ "refs/heads/main": one, "refs/tags/v1": tag }, "--atomic")).toMatchObject({ code: 0 });
    expect(await allowed({ "refs/heads/main": other }, "--force")).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": other, "refs/tags/v1": tag });
    const gone = await rig.push([rig.url, ":refs/tags/v1"]);
    expect(gone).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": other });
    rig.host.log.length = 0;
    const refused = await rig.push([rig.url, ":refs/heads/main"]);
    expect(refused.stdout.toString()).toMatch(/\[remote rejected\] \(state [0-9a-f]{64} by npub1\w+ expects [0-9a-f]{40}\)/);
    expect(rig.host.log).toEqual([]);
  });

  it("one refused ref refuses the whole push, and says so for each (grasp.md 7.7)", async () => {
    await open();
    const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
    rig.host.states.push(stateOf({ "refs/heads/main": one }));
    const { code, stdout } = await rig.push([rig.url, `${one}:refs/heads/main`, `${two}:refs/heads/other`]);
    expect(code).toBe(1);
    expect(stdout.toString()).toContain("(not done, because refs/heads/other was refused)");
    expect(stdout.toString()).toContain("expects no such ref)");
    expect([rig.refs(), rig.host.log]).toEqual([{}, []]);
  });

  it("some refs of a waiting state are taken, with their overlay records before the refs move (grasp.md 7.8)", async () => {
    await open();
    const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
    const state = stateOf({ "refs/heads/main": one, "refs/heads/next": two });
    rig.host.states.push(state);
    let seen = -1;
    rig.host.beforeMove = async () => void (seen = rig.host.overlay.length);
    expect(await rig.push([rig.url, `${one}:refs/heads/main`])).toMatchObject({ code: 0 });
    expect(seen).toBe(1);
    expect(rig.host.overlay).toMatchObject([{ ref: "refs/heads/main", value: one, state: state.id }]);
    expect(rig.refs()).toEqual({ "refs/heads/main": one });
  });

  it("a ref that another writer moved is refused by the transaction, and releases nothing (grasp.md 7.12)", async () => {
    await open();
    const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
    await allowed({ "refs/heads/main": one });
    rig.host.log.length = 0;
    rig.host.beforeMove = async () => void git(["update-ref", "-d", "refs/heads/main"], { cwd: rig.host.gitDir });
    const { code, stdout } = await allowed({ "refs/heads/main": two }, "--force");
    expect([code, rig.refs()]).toEqual([1, {}]);
    expect(stdout.toString()).toContain("(there is no such ref here)");
    expect(rig.host.log).toEqual(["open", "lane", "overlay", "move"]);
  });

  it("what is there already is answered ok without a change (grasp.md 7.6)", async () => {
    await open();
    const one = commit(rig.work, "one");
    await allowed({ "refs/heads/main": one });
    rig.host.log.length = 0;
    const line = `${"0".repeat(40)} ${one} refs/heads/main\0report-status`;
    const length = (line.length + 4).toString(16).padStart(4, "0");
    const pack = Buffer.alloc(4_096, "whatever a client thinks is a pack");
    const { body } = await rig.post(Buffer.concat([Buffer.from(`${length}${line}0000`), pack]));
    expect(body).toBe("000eunpack ok\n0017ok refs/heads/main\n0000");
    expect(rig.host.log).toEqual(["settle"]);
    expect(rig.packs()).toBe(1);
  });
});

describe("other repositories", () => {
  it("SHA-256", async () => {
    await open({ format: "sha256" });
    const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
    expect(one).toHaveLength(64);
    expect(await allowed({ "refs/heads/main": one, "refs/heads/gone": two })).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": one, "refs/heads/gone": two });
    rig.host.states.push(stateOf({ "refs/heads/main": one }));
    expect(await rig.push([rig.url, ":refs/heads/gone"])).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": one });
  });

  it("a shallow clone may push on top of what is here, and not instead of it (grasp.md 7.4)", async () => {
    await open();
    const base = commit(rig.work, "base", [commit(rig.work, "root")]);
    git(["update-ref", "refs/heads/main", base], { cwd: rig.work });
    const shallow = rig.rig.path("shallow.git");
    git(["clone", "-q", "--bare", "--depth=1", "--branch=main", `file://${rig.work}`, shallow], { cwd: rig.rig.directory });
    const top = commit(shallow, "top", [base]);
    rig.host.states.push(stateOf({ "refs/heads/main": top }));
    const rootless = await rig.pushFrom(shallow, [rig.url, `${top}:refs/heads/main`]);
    expect([rootless.code, rig.refs(), rig.packs()]).toEqual([1, {}, 0]);
    expect(await allowed({ "refs/heads/main": base })).toMatchObject({ code: 0 });
    rig.host.states.push(stateOf({ "refs/heads/main": top }));
    expect(await rig.pushFrom(shallow, [rig.url, `${top}:refs/heads/main`])).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": top });
    expect(git(["fsck", "--strict"], { cwd: rig.host.gitDir })).toBe("");
  });
});

describe("large packs", () => {
  it("over http.postBuffer git asks with 0000 first, then sends in chunks (grasp.md 7.2, 7.4)", async () => {
    await open();
    const one = commit(rig.work, Array.from({ length: 20_000 }, (_, n) => `${n * 7_919} ${Math.imul(n, 2_654_435_761)}`).join("\n"));
    rig.host.states.push(stateOf({ "refs/heads/main": one }));
    const pushed = await rig.push(
      [rig.url, `${one}:refs/heads/main`],
      ["http.postBuffer=65536", "core.compression=0", "pack.compression=0"],
    );
    expect(pushed).toMatchObject({ code: 0 });
    expect(rig.requests).toEqual(["GET -", "POST 4", "POST chunked"]);
    expect(rig.refs()).toEqual({ "refs/heads/main": one });
  });

  it("a refused one is read to its end and git sees why (grasp.md 7.11)", async () => {
    await open();
    const one = commit(rig.work, `${"0123456789abcdef".repeat(256 * 1024)}${"x".repeat(8)}`);
    const { stdout, code } = await rig.push([rig.url, `${one}:refs/heads/main`], ["core.compression=0", "pack.compression=0"]);
    expect([code, stdout.toString()]).toEqual([1, expect.stringContaining("[remote rejected] (no state event")]);
    expect(rig.host.log).toEqual([]);
  });

  it("beyond the limits of a pack it is refused (grasp.md 7.16)", async () => {
    await open({ limits: { ...PUSH_LIMITS, packBytesMax: 100_000, objectsMax: 6 } });
    const big = commit(rig.work, "0123456789abcdef".repeat(64 * 1024));
    // What counts is what is sent: this one is small as a pack.
    expect(await allowed({ "refs/heads/main": big })).toMatchObject({ code: 0 });
    const noise = commit(rig.work, Array.from({ length: 60_000 }, (_, n) => Math.imul(n, 2_654_435_761).toString(36)).join(""));
    const refused = await allowed({ "refs/heads/noise": noise });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("The pack has more than 100000 bytes.")]);
    const many = commit(rig.work, "c", [commit(rig.work, "b", [commit(rig.work, "a")])]);
    const refusedMany = await allowed({ "refs/heads/many": many });
    expect([refusedMany.code, refusedMany.stderr]).toEqual([1, expect.stringContaining("The pack has more than 6 objects.")]);
    expect(rig.refs()).toEqual({ "refs/heads/main": big });
  });

  it("no push while the disk reserve is reached, before it or while it arrives (grasp.md 7.16)", async () => {
    await open();
    const one = commit(rig.work, "one");
    rig.host.reserve = () => false;
    const refused = await allowed({ "refs/heads/main": one });
    expect(refused.stdout.toString()).toContain("[remote rejected] (error: disk reserve reached)");
    let looks = 0;
    rig.host.reserve = () => ++looks < 2;
    const big = commit(rig.work, "0123456789abcdef".repeat(1024 * 1024 + 8 * 1024));
    rig.host.log.length = 0;
    rig.host.states.push(stateOf({ "refs/heads/big": big }));
    const stopped = await rig.push([rig.url, `${big}:refs/heads/big`], ["pack.compression=0"]);
    expect(stopped.stdout.toString()).toContain("[remote rejected] (error: disk reserve reached)");
    expect([rig.refs(), rig.host.log]).toEqual([{}, ["open"]]);
  });
});

describe("what must be here", () => {
  it("a tip that is neither here nor in the pack, and a branch at a blob", async () => {
    await open();
    const one = commit(rig.work, "one");
    const blob = oid(git(["rev-parse", `${one}:file`], { cwd: rig.work }));
    const pack = rig.packOf([one]);
    const missing = oid("1".repeat(40));
    rig.host.states.push(stateOf({ "refs/heads/main": missing, "refs/heads/blob": blob, "refs/heads/fine": one }));
    const { body } = await rig.post(Buffer.concat([commands([missing, "main"], [blob, "blob"], [one, "fine"]), pack]));
    expect(body).toContain(`ng refs/heads/main ${missing} is not in the pack, nor here\n`);
    expect(body).toContain(`ng refs/heads/blob a commit is wanted, and ${blob} is a blob\n`);
    expect(body).toContain("ng refs/heads/fine not done, because refs/heads/main was refused\n");
    expect([rig.refs(), rig.packs()]).toEqual([{}, 0]);
  });

  it("connectivity is proved again when a reclaim ran meanwhile (grasp.md 7.10)", async () => {
    await open();
    const one = commit(rig.work, "one");
    rig.host.beforeLane = async () => void rig.host.epoch++;
    expect(await allowed({ "refs/heads/main": one })).toMatchObject({ code: 0 });
    const two = commit(rig.work, "two", [one]);
    rig.host.beforeLane = async () => {
      rig.host.epoch++;
      git(["update-ref", "-d", "refs/heads/main"], { cwd: rig.host.gitDir });
      git(["-c", "gc.pruneExpire=now", "repack", "-a", "-d", "-q"], { cwd: rig.host.gitDir });
    };
    const lost = await allowed({ "refs/heads/main": two });
    expect(lost.stdout.toString()).toContain("(objects that it needs are no longer here; fetch, then push again)");
    expect(rig.refs()).toEqual({});
  });
});

const commands = (...list: readonly (readonly [Oid, string])[]): Buffer =>
  Buffer.from(
    `${list
      .map(([to, name], n) => `${"0".repeat(40)} ${to} refs/heads/${name}${n === 0 ? "\0report-status" : ""}`)
      .map((line) => (line.length + 4).toString(16).padStart(4, "0") + line)
      .join("")}0000`,
  );

describe("pull requests (grasp.md 7.9)", () => {
  const event = "b".repeat(64) as EventId;

  it("without its event a tip is staged and no ref is made; with it, it is applied", async () => {
    await open();
    const tip = commit(rig.work, "change");
    expect(await rig.push([rig.url, `${tip}:refs/nostr/${event}`])).toMatchObject({ code: 0 });
    expect(rig.host.log).toEqual(["open staging", "lane", "stage", "settle"]);
    expect([rig.refs(), rig.packs(), rig.host.staged.get(event)]).toEqual([{}, 0, [tip]]);
    rig.host.pullRequests.set(event, {
      id: event,
      author: MALLORY,
      createdAt: stateOf({}).createdAt,
      tip,
      repositories: [{ kind: 30617, pubkey: ALICE, d: "demo" }],
      clone: [],
    });
    expect(await rig.push([rig.url, `${tip}:refs/nostr/${event}`])).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ [`refs/nostr/${event}`]: tip });
    const other = commit(rig.work, "another");
    const refused = await rig.push([rig.url, `+${other}:refs/nostr/${event}`]);
    expect(refused.stdout.toString()).toContain(`expects ${tip})`);
  });

  it("of a pack with signed and unsigned tips only what the signed ones reach is copied out", async () => {
    await open();
    const [main, tip] = [commit(rig.work, "main"), commit(rig.work, "change")];
    rig.host.states.push(stateOf({ "refs/heads/main": main }));
    expect(await rig.push([rig.url, `${main}:refs/heads/main`, `${tip}:refs/nostr/${event}`])).toMatchObject({ code: 0 });
    expect(rig.refs()).toEqual({ "refs/heads/main": main });
    expect(() => git(["cat-file", "-e", tip], { cwd: rig.host.gitDir })).toThrow();
    expect(git(["cat-file", "-t", tip], { cwd: rig.host.staging })).toBe("commit");
  });

  it("no room in staging refuses all of it, before refs move", async () => {
    await open();
    const [main, tip] = [commit(rig.work, "main"), commit(rig.work, "change")];
    rig.host.states.push(stateOf({ "refs/heads/main": main }));
    rig.host.stageRefusal = "repository share used up";
    const refused = await rig.push([rig.url, `${main}:refs/heads/main`, `${tip}:refs/nostr/${event}`]);
    expect(refused.stdout.toString()).toContain("[remote rejected] (repository share used up)");
    expect(refused.stdout.toString()).toContain(`(not done, because refs/nostr/${event} was refused)`);
    rig.host.unsignedBytesLeft = 100;
    rig.host.stageRefusal = undefined;
    const tooLarge = await rig.push([rig.url, `${tip}:refs/nostr/${event}`]);
    expect(tooLarge.stderr).toContain("The pack has more than 100 bytes.");
    expect([rig.refs(), rig.packs(), rig.host.staged.size]).toEqual([{}, 0, 0]);
  });

  it("an event that vanished while its pack arrived: what was not received for staging is not staged", async () => {
    await open();
    const tip = commit(rig.work, "change");
    const request = {
      id: event,
      author: ALICE,
      createdAt: stateOf({}).createdAt,
      tip,
      repositories: [{ kind: 30617, pubkey: ALICE, d: "demo" }],
    };
    rig.host.pullRequests.set(event, { ...request, clone: [] });
    rig.host.beforeLane = async () => rig.host.pullRequests.clear();
    const refused = await rig.push([rig.url, `${tip}:refs/nostr/${event}`]);
    expect(refused.stdout.toString()).toContain("(the repository changed while the push arrived; push again)");
    expect([rig.refs(), rig.packs()]).toEqual([{}, 0]);
  });
});

describe("at once", () => {
  it("two pushes of one ref: both are answered ok, the ref moves once (grasp.md 7.6)", async () => {
    await open();
    const one = commit(rig.work, "one");
    rig.host.states.push(stateOf({ "refs/heads/main": one }));
    // The first one in the lane waits until the other stands behind it, with its own pack received.
    rig.host.beforeLane = async () => {
      await expect.poll(() => rig.host.log.filter((step) => step === "lane").length, { timeout: 10_000 }).toBe(2);
    };
    const pushes = await Promise.all([rig.push([rig.url, `${one}:refs/heads/main`]), rig.push([rig.url, `${one}:refs/heads/main`])]);
    expect(pushes.map(({ code }) => code)).toEqual([0, 0]);
    expect(rig.host.log.filter((step) => step === "move")).toHaveLength(1);
    expect(rig.packs()).toBe(1);
  });

  it("a state that changes between quarantine and lane decides anew (grasp.md 7.10)", async () => {
    await open();
    const [one, two] = [commit(rig.work, "one"), commit(rig.work, "two")];
    const newer = stateOf({ "refs/heads/main": two });
    rig.host.beforeLane = async () => {
      rig.host.states = [newer];
    };
    const refused = await allowed({ "refs/heads/main": one });
    expect(refused.stdout.toString()).toContain(`(state ${newer.id} by`);
    expect([rig.refs(), rig.packs(), rig.host.log]).toEqual([{}, 0, ["open", "lane"]]);
  });
});
