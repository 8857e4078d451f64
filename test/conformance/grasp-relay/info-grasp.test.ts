import { expect } from "vitest";
import { note, vanish } from "../../kit/event-builder.ts";
import { startOwn } from "../../kit/server-under-test.ts";
import { namesNothing } from "../nip-77/by-hand.ts";
import { conformance, fetchInfo } from "../suite.ts";

const { proves } = conformance({ env: { HOLDFAST_ACCEPTANCE: "grasp" } });

proves("GRASP:2.4/limitation", "a server for repositories says that writes are restricted", async (t) => {
  expect(t.info.limitation?.["restricted_writes"]).toBe(true);
  expect((await (await t.connect()).publish(note(t.alice, "off topic"))).ok).toBe(false);
});

proves("GRASP:2.4/criteria", "repo_acceptance_criteria is a sentence that follows the configuration", async (t) => {
  expect(typeof t.info["repo_acceptance_criteria"]).toBe("string");
  const other = await startOwn({ env: { HOLDFAST_ACCEPTANCE: "open" } });
  try {
    const open = await fetchInfo(other.httpUrl);
    expect(typeof open["repo_acceptance_criteria"]).toBe("string");
    expect(open["repo_acceptance_criteria"]).not.toBe(t.info["repo_acceptance_criteria"]);
  } finally {
    await other.stop();
  }
});

proves("GRASP:2.4/supported-nips GRASP:3.1/listed", "what is listed is there: one exchange for each", async (t) => {
  const nips = t.info.supported_nips ?? [];
  expect(nips).toEqual(expect.arrayContaining([1, 9, 11, 40, 42, 45, 62, 70, 77]));
  expect(nips, "sorted, as people read it").toEqual(nips.toSorted((a, b) => a - b));
  const client = await t.connect();
  expect((await client.count({ kinds: [1] })).result, "45").toMatchObject({ count: 0 });
  expect(namesNothing((await client.negOpen("n", { kinds: [1] }, "6100000200")).message), "77").toBe(true);
  expect((await client.publish(vanish(t.alice, [t.server.url]))).ok, "62").toBe(true);
  const expired = await client.publish(note(t.bob, "x", { tags: [["expiration", "1"]] }));
  expect(expired.ok, "40").toBe(false);
  expect((await client.publish(note(t.bob, "x", { tags: [["-"]] }))).ok, "70").toBe(false);
});
