import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { concatBytes, toHex, toUtf8 } from "../base/bytes.ts";
import { formatOf, type ObjectFormat, type Oid, zeroOid } from "./oid.ts";
import { FLUSH, pktText } from "./pkt-line.ts";
import { ReceiveReader, type ReceiveStep } from "./receive-request.ts";
import { isBranch, isTag, nostrRefId, type RefName, readRefName } from "./ref-name.ts";
import type { RefUpdate } from "./ref-update.ts";

function read(chunks: Iterable<Uint8Array>): ReceiveStep {
  const reader = new ReceiveReader();
  for (const chunk of chunks) {
    const step = reader.feed(chunk);
    if (step.kind !== "more") return step;
  }
  return reader.end();
}

function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[i % sizes.length] as number);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 6 });
const formats = fc.constantFrom<ObjectFormat>("sha1", "sha256");
const names = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom("refs/heads/", "refs/tags/"),
      fc.string({ unit: fc.constantFrom("a", "b", "-", "é", "😀"), minLength: 1, maxLength: 6 }),
    )
    .map((parts) => parts.join("") as RefName),
  { minLength: 1, maxLength: 6 },
);
const oids = (format: ObjectFormat): fc.Arbitrary<Oid> =>
  fc
    .uint8Array({ minLength: zeroOid(format).length / 2, maxLength: zeroOid(format).length / 2 })
    .map((bytes) => toHex(bytes) as Oid)
    .filter((oid) => /[^0]/.test(oid));

const pushes = fc.tuple(formats, names).chain(([format, refs]) =>
  fc.record({
    format: fc.constant(format),
    shallow: fc.array(oids(format), { maxLength: 3 }),
    commands: fc.tuple(
      ...refs.map((ref) =>
        fc.record({
          ref: fc.constant(ref),
          from: fc.option(oids(format), { nil: undefined }),
          to: fc.option(oids(format), { nil: undefined }),
        }),
      ),
    ),
    lineEnds: fc.boolean(),
    words: fc.subarray(["report-status", "side-band-64k", "atomic", "quiet", "delete-refs", "ofs-delta", "new-thing"]),
    pack: fc.uint8Array({ maxLength: 20 }),
  }),
);

const written = (
  commands: readonly RefUpdate[],
  shallow: readonly Oid[],
  format: ObjectFormat,
  words: readonly string[],
  end: string,
): Uint8Array =>
  toUtf8(
    [
      ...shallow.map((oid) => `shallow ${oid}`),
      ...commands.map(({ ref, from, to }, i) => {
        const line = `${from ?? zeroOid(format)} ${to ?? zeroOid(format)} ${ref}`;
        return i === 0 ? `${line}\0 ${[...words, `object-format=${format}`].join(" ")}` : line;
      }),
    ]
      .map((line) => pktText(line + end))
      .join("") + FLUSH,
  );

test("grasp.md 7.4: a list that is written is read, however it is cut, and the pack is untouched", () => {
  fc.assert(
    fc.property(pushes, sizes, ({ format, shallow, commands, lineEnds, words, pack }, pieces) => {
      const bytes = written(commands, shallow, format, words, lineEnds ? "\n" : "");
      const whole = concatBytes([bytes, pack]);
      const step = read(cut(whole, pieces));
      if (step.kind !== "request") throw new Error(JSON.stringify(step));
      expect(step.request).toMatchObject({ commands, shallow, bytes: bytes.length });
      expect(step.request.capabilities).toMatchObject({
        objectFormat: format,
        atomic: words.includes("atomic"),
        reportStatus: words.includes("report-status"),
      });
      // What came with the flush in one chunk begins the pack, byte by byte.
      expect(toHex(pack).startsWith(toHex(step.rest))).toBe(true);
    }),
    runs(300),
  );
});

test("grasp.md 7.4: any bytes are answered without a throw, and what is accepted keeps every rule", () => {
  const mutated = fc
    .tuple(pushes, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 3 }))
    .map(([{ format, shallow, commands, words }, changes]) => {
      const bytes = written(commands, shallow, format, words, "");
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    });
  const accepted = { count: 0 };
  fc.assert(
    fc.property(
      fc.oneof({ weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) }, { weight: 5, arbitrary: mutated }),
      sizes,
      (bytes, pieces) => {
        const step = read([bytes]);
        const again = read(cut(bytes, pieces));
        expect(again.kind).toBe(step.kind);
        if (step.kind !== "request") return;
        accepted.count++;
        const { commands, shallow, capabilities } = step.request;
        expect(new Set(commands.map(({ ref }) => ref)).size).toBe(commands.length);
        for (const { ref, from, to } of commands) {
          expect(readRefName(ref)).toBe(ref);
          expect(isBranch(ref) || isTag(ref) || nostrRefId(ref) !== undefined).toBe(true);
          for (const oid of [from, to]) if (oid !== undefined) expect(formatOf(oid)).toBe(capabilities.objectFormat);
        }
        for (const oid of shallow) expect(formatOf(oid)).toBe(capabilities.objectFormat);
      },
    ),
    runs(1_000),
  );
  expect(accepted.count).toBeGreaterThan(50);
});
