import { describe, expect, it } from "vitest";
import { timeBound } from "./bound.ts";
import { MessageWriter } from "./message-writer.ts";

describe("MessageWriter", () => {
  it("goes back as if nothing had been written", () => {
    const [plain, tried] = [new MessageWriter(4_096), new MessageWriter(4_096)];
    const mark = tried.mark();
    tried.fingerprint(timeBound(50), new Uint8Array(16));
    tried.back(mark);
    for (const out of [plain, tried]) out.skipTo(timeBound(20));
    expect(tried.finish()).toEqual(plain.finish());
  });

  it("does not skip to where it is", () => {
    const out = new MessageWriter(4_096);
    out.skipTo(timeBound(0));
    expect(out.finish()).toEqual(Uint8Array.of(0x61));
  });

  it("has no room for less than the smallest frame that works", () => {
    expect(new MessageWriter(1).idsRoom).toBe(new MessageWriter(4_096).idsRoom);
  });
});
