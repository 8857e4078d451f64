import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { PROBLEM_TEXTS, parseClientMessage } from "./client-message.ts";
import { isFilterProblem, readFilters } from "./read-filter.ts";

const verb = fc.constantFrom("EVENT", "REQ", "COUNT", "CLOSE", "AUTH", "NEG-OPEN", "NEG-MSG", "NEG-CLOSE", "HELLO");
const almost = fc.tuple(verb, fc.oneof(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue(), { maxLength: 3 }));
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  almost.map(([name, sub, more]) => JSON.stringify([name, sub, ...more])),
  almost.map(([name, sub, more]) => JSON.stringify([name, sub, ...more]).slice(0, -2)),
);

test("grasp.md 3.2: any text is a message or a problem with a fixed sentence, and its filters are read or refused without a throw", () => {
  const sentences: readonly string[] = Object.values(PROBLEM_TEXTS);
  fc.assert(
    fc.property(text, (given) => {
      const message = parseClientMessage(given);
      if (message.kind === "problem") expect(sentences).toContain(message.text);
      if (message.kind === "req" || message.kind === "count") {
        const filters = readFilters(message.filters);
        expect(isFilterProblem(filters) ? filters.text : filters).toHaveProperty("length");
      }
      if ("sub" in message && message.sub !== undefined) expect(message.sub).not.toBe("");
    }),
    runs(1_000),
  );
});
