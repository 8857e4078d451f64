import { createHash, hash } from "node:crypto";
import { Chance, Zipf } from "./chance.ts";
import { openSigner, type Signer } from "./signer.ts";
import { textFrame } from "./wire.ts";

/** How many people write. Zipf, so the busiest has written about an eighth of everything. */
const AUTHORS = 2_000;
/** Coordinates that are mentioned beside the one that is hosted, so that `#a` has many values of very different size. */
const MENTIONED = 500;
const LABELS = ["bug", "feature", "docs", "performance", "question", "security", "build", "tests", "ui", "api", "good-first-issue"];
const WORDS =
  "the a to when fails with branch commit patch relay push server returns error line test and of merge please after update function value missing key state build on review this fix in is not we should read write path".split(
    " ",
  );

/** Kinds of NIP-34 and NIP-22 that every relay of the comparison accepts once they name an accepted repository, and how often each comes. */
const KIND_OF_TEN = [1111, 1111, 1111, 1111, 1621, 1621, 1621, 1617, 1617, 1] as const;
export const LOAD_KINDS = [1, 1111, 1617, 1621] as const;

export const IDENTIFIER = "bench";

export interface SignedEvent {
  readonly id: Buffer;
  readonly json: string;
  readonly createdAt: number;
  readonly kind: number;
  readonly author: number;
}

/** One reproducible set of events. `small` ones carry little beyond what the protocol needs, about 480 bytes; `full` ones about 1 KB. */
export interface EventSet {
  readonly name: string;
  readonly count: number;
  readonly size: "full" | "small";
  /** Times of creation are spread evenly over this span. */
  readonly from: number;
  readonly spanS: number;
}

/** Everybody who writes, from one seed: the same keys, so the same coordinate, on every server of a run. */
export class World {
  readonly seed: string;
  readonly signer: Signer;
  readonly coordinate: string;
  readonly ownerHex: string;
  readonly mentioned: readonly string[];
  readonly #owner: Buffer;
  readonly #secrets: readonly Buffer[];
  readonly #keys: readonly string[];

  constructor(seed: string) {
    this.seed = seed;
    this.signer = openSigner();
    const secret = (name: string): Buffer => createHash("sha256").update(`${seed}:${name}`).digest();
    const publicHex = (key: Buffer): string => Buffer.from(this.signer.publicKey(key)).toString("hex");
    this.#owner = secret("owner");
    this.ownerHex = publicHex(this.#owner);
    this.coordinate = `30617:${this.ownerHex}:${IDENTIFIER}`;
    this.#secrets = Array.from({ length: AUTHORS }, (_, rank) => secret(`author ${rank}`));
    this.#keys = this.#secrets.map(publicHex);
    this.mentioned = Array.from({ length: MENTIONED }, (_, rank) => `30617:${this.authorHex(rank)}:project-${rank}`);
  }

  authorHex(rank: number): string {
    const key = this.#keys[rank];
    if (key === undefined) throw new Error(`no author ${rank}`);
    return key;
  }

  /** An event of the repository's owner. */
  signAsOwner(kind: number, createdAt: number, tags: readonly (readonly string[])[]): SignedEvent {
    return this.#sign(this.#owner, this.ownerHex, -1, kind, createdAt, JSON.stringify(tags), '""');
  }

  *events(set: EventSet): Generator<SignedEvent> {
    const chance = new Chance(`${this.seed}:${set.name}`);
    const authors = new Zipf(AUTHORS);
    const projects = new Zipf(MENTIONED);
    const recent: string[] = [];
    for (let index = 0; index < set.count; index++) {
      const author = authors.draw(chance);
      const kind = chance.pick(KIND_OF_TEN);
      const createdAt = set.from + Math.floor((index / set.count) * set.spanS);
      const tags = set.size === "small" ? [["a", this.coordinate]] : this.#fullTags(chance, projects, authors, kind, recent);
      const content = set.size === "small" ? `${index}` : prose(chance, kind === 1617 ? 900 : 340);
      const event = this.#sign(
        this.#secretOf(author),
        this.authorHex(author),
        author,
        kind,
        createdAt,
        JSON.stringify(tags),
        JSON.stringify(content),
      );
      if (set.size === "full") recent[index % 512] = event.id.toString("hex");
      yield event;
    }
  }

  #fullTags(chance: Chance, projects: Zipf, authors: Zipf, kind: number, recent: readonly string[]): string[][] {
    const tags = [["a", this.coordinate]];
    if (chance.next() < 0.4) tags.push(["a", this.mentioned[projects.draw(chance)] ?? this.coordinate]);
    if (chance.next() < 0.6) tags.push(["p", this.authorHex(authors.draw(chance))]);
    if (recent.length > 0 && (kind === 1111 || chance.next() < 0.2)) tags.push(["e", chance.pick(recent), "", "root"]);
    if (kind === 1621) tags.push(["subject", prose(chance, 50)]);
    if (chance.next() < 0.5) tags.push(["t", chance.pick(LABELS)]);
    if (chance.next() < 0.1) tags.push(["d", `note-${chance.below(100_000)}`]);
    return tags;
  }

  #secretOf(rank: number): Buffer {
    const secret = this.#secrets[rank];
    if (secret === undefined) throw new Error(`no author ${rank}`);
    return secret;
  }

  #sign(secret: Buffer, pubkey: string, author: number, kind: number, createdAt: number, tags: string, content: string): SignedEvent {
    const id = hash("sha256", `[0,"${pubkey}",${createdAt},${kind},${tags},${content}]`, "buffer");
    const sig = Buffer.from(this.signer.sign(id, secret)).toString("hex");
    const json = `{"id":"${id.toString("hex")}","pubkey":"${pubkey}","created_at":${createdAt},"kind":${kind},"tags":${tags},"content":${content},"sig":"${sig}"}`;
    return { id, json, createdAt, kind, author };
  }
}

export const eventFrame = (event: SignedEvent): Buffer => textFrame(`["EVENT",${event.json}]`);

function prose(chance: Chance, meanChars: number): string {
  const wanted = meanChars * (0.3 + 1.4 * chance.next());
  let text = "";
  while (text.length < wanted) text += `${chance.pick(WORDS)}${chance.next() < 0.06 ? "\n" : " "}`;
  return text;
}
