import { expect } from "vitest";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: {
    HOLDFAST_RELAY_NAME: "conformance",
    HOLDFAST_RELAY_DESCRIPTION: "a description",
    HOLDFAST_RELAY_CONTACT: "https://contact.example/me",
    HOLDFAST_RELAY_ICON: "https://icon.example/i.png",
    HOLDFAST_MAX_SUBSCRIPTIONS: "17",
    HOLDFAST_MAX_RESULTS: "23",
    HOLDFAST_DEFAULT_RESULTS: "11",
    HOLDFAST_MAX_MESSAGE_BYTES: "100000",
    HOLDFAST_MAX_EVENT_BYTES: "90000",
    HOLDFAST_MAX_SUBSCRIPTION_ID_LENGTH: "300",
  },
});

proves("GRASP:2.4/identity", "name, description, key, software and version", async (t) => {
  expect(t.info).toMatchObject({ name: "conformance", description: "a description" });
  expect(t.info["pubkey"]).toMatch(/^[0-9a-f]{64}$/);
  expect(t.info["software"]).toMatch(/^https?:\/\/[^/]+\//);
  expect(t.info["version"]).toMatch(/^\d+\.\d+\.\d+/);
});

proves("GRASP:2.4/contact-icon", "contact and icon are those of the operator", async (t) => {
  expect(t.info).toMatchObject({ contact: "https://contact.example/me", icon: "https://icon.example/i.png" });
});

proves("GRASP:2.4/limitation", "the figures are those the server was started with", async (t) => {
  expect(t.info.limitation).toMatchObject({
    max_message_length: 100_000,
    max_subscriptions: 17,
    max_limit: 23,
    default_limit: 11,
    max_subid_length: 300,
  });
  expect(t.info.limitation?.["restricted_writes"] ?? false, "open to everybody").toBe(false);
});

proves("GRASP:2.4/subid-250", "ids of 250 characters and more work as announced", async (t) => {
  const announced = Number(t.info.limitation?.["max_subid_length"]);
  expect(announced).toBeGreaterThanOrEqual(250);
  const client = await t.connect();
  for (const length of [250, announced]) expect((await client.subscribe("s".repeat(length), { limit: 0 })).eose).toBe(true);
});

proves("GRASP:2.4/supported-grasps", "supported_grasps has the agreed form", async (t) => {
  const grasps = t.info["supported_grasps"];
  expect(Array.isArray(grasps)).toBe(true);
  expect((grasps as unknown[]).filter((name) => !/^GRASP-\d\d$/.test(String(name)))).toEqual([]);
  expect(grasps, "public servers never connect to one that lists it").not.toContain("GRASP-08");
});

proves("GRASP:2.4/curation", "nothing is curated, so nothing says so", async (t) => {
  expect(t.info).not.toHaveProperty("curation");
});
