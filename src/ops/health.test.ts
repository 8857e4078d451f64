import { expect, test } from "vitest";
import { Health } from "./health.ts";

test("grasp.md 2.1: ready when every part is, and else every reason", () => {
  const health = new Health({ store: "the store is opening", door: "not listening yet" });
  expect(health.notReady()).toBe("the store is opening; not listening yet");
  health.waiting("store", "the store is migrating, 37 %");
  health.ready("door");
  expect(health.notReady()).toBe("the store is migrating, 37 %");
  health.ready("store");
  expect(health.notReady()).toBeUndefined();
  health.waiting("door", "the server is stopping");
  expect(health.notReady()).toBe("the server is stopping");
});
