import { expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { infoDocument } from "./info-document.ts";

test("grasp.md 2.4: the document says what is true and leaves out what is not set", () => {
  const key = fakeKey("server");
  const document = infoDocument({
    name: "ours",
    description: "",
    contact: undefined,
    software: "https://software.example",
    version: "1",
    serverKey: key,
    nips: [77, 1, 11, 1],
    grasps: ["GRASP-02", "GRASP-01"],
    acceptance: "anybody",
    limitation: { max_subid_length: 250, restricted_writes: true, min_pow_difficulty: undefined },
    gitLimits: { pack_bytes_max: 5 },
  });
  expect(JSON.parse(JSON.stringify(document))).toEqual({
    name: "ours",
    pubkey: key,
    self: key,
    software: "https://software.example",
    version: "1",
    supported_nips: [1, 11, 77],
    supported_grasps: ["GRASP-01", "GRASP-02"],
    repo_acceptance_criteria: "anybody",
    limitation: { max_subid_length: 250, restricted_writes: true },
    git_limitation: { pack_bytes_max: 5 },
  });
});
