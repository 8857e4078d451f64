import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../kit/arbitrary/runs.ts";
import { checkQuiet, look } from "./checkers.ts";
import { anyHistory } from "./step.ts";
import { World } from "./world.ts";

test("whatever people do, and whenever the process dies: git and what is served agree after every step (grasp.md 6.5–6.10, 11.3)", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const world = new World();
      for (const step of history) await world.take(step);
      await world.bringEverything();
      checkQuiet(await look(world.server));
    }),
    runs(300),
  );
});
