import { BoundedMap } from "../../base/bounded.ts";
import type { Oid } from "../../git/oid.ts";

/** What an object is never changes, so it is remembered apart from where the object lies; 200,000 are about 40 MB. */
const FACTS_MAX = 200_000;

export type Kind = "commit" | "other";

/** What is asked of git about objects (git/io/objects.ts). */
export interface ObjectReader {
  look(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, string>>;
  peel(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, { readonly oid: Oid }>>;
  forget(gitDir: string): Promise<void>;
}

/** Asks git about objects, and only once about those whose presence is certain. */
export class ObjectFacts {
  readonly #objects: ObjectReader;
  readonly #kinds = new BoundedMap<Oid, Kind>(FACTS_MAX);
  readonly #targets = new BoundedMap<Oid, Oid | "itself">(FACTS_MAX);

  constructor(objects: ObjectReader) {
    this.#objects = objects;
  }

  /** If it was ever seen. It says nothing about where the object is. */
  kindOf(oid: Oid): Kind | undefined {
    return this.#kinds.get(oid);
  }

  /** Before the directory goes. */
  forget(gitDir: string): Promise<void> {
    return this.#objects.forget(gitDir);
  }

  /** Those that are there. */
  async look(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Kind>> {
    const found = new Map<Oid, Kind>();
    for (const [oid, type] of await this.#objects.look(gitDir, oids)) found.set(oid, type === "commit" ? "commit" : "other");
    for (const [oid, kind] of found) this.#kinds.set(oid, kind);
    return found;
  }

  /** What those among them that are annotated tags finally name. */
  async peel(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid>> {
    const asked = oids.filter((oid) => this.#kinds.peek(oid) !== "commit" && this.#targets.get(oid) === undefined);
    const answers = asked.length === 0 ? new Map<Oid, { readonly oid: Oid }>() : await this.#objects.peel(gitDir, asked);
    const peeled = new Map<Oid, Oid>();
    for (const oid of oids) {
      const target = answers.get(oid)?.oid ?? this.#targets.peek(oid);
      if (target !== undefined && target !== "itself") peeled.set(oid, target);
    }
    for (const oid of asked) {
      // Of what is not here nothing is known yet.
      const target = answers.get(oid)?.oid ?? (this.#kinds.peek(oid) === undefined ? undefined : "itself");
      if (target !== undefined) this.#targets.set(oid, target);
    }
    return peeled;
  }
}
