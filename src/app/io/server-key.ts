import { randomBytes as systemRandomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { schnorr } from "@noble/curves/secp256k1.js";
import type { PublicKey } from "../../nostr/event.ts";
import { encodeNsec, type SecretKey, secretKey } from "../../nostr/npub.ts";
import { readSecret } from "../settings/key-text.ts";
import { SECRET_NAMES } from "../settings/other-names.ts";

/** The key the server signs with. Printing or serialising it shows the public half only. */
export class ServerKey {
  readonly publicKey: PublicKey;
  readonly #secret: SecretKey;

  constructor(secret: SecretKey) {
    this.publicKey = Buffer.from(schnorr.getPublicKey(secret)).toString("hex") as PublicKey;
    this.#secret = secret;
  }

  /** BIP-340 over a 32-byte hash (an event id). */
  sign(hash: Uint8Array): Uint8Array {
    return schnorr.sign(hash, this.#secret);
  }

  toJSON(): unknown {
    return { publicKey: this.publicKey };
  }

  [inspect.custom](): string {
    return `ServerKey(${this.publicKey})`;
  }
}

export type KeyResult =
  | { readonly kind: "ok"; readonly key: ServerKey; readonly from: string; readonly warnings: readonly string[] }
  | { readonly kind: "bad"; readonly problem: string };

export interface KeyOptions {
  /** Names of secrets are removed from it, so that no child process inherits them. */
  readonly env: Record<string, string | undefined>;
  readonly relayDataPath: string;
  /** A store that forgets wants a key that is forgotten too: no file is read or made. */
  readonly persist: boolean;
  readonly randomBytes?: (count: number) => Uint8Array;
}

const FILE_NAME = ".relay-owner.nsec";
const CREDENTIAL = "relay_owner_nsec";

/** grasp.md 2.5: systemd credential, then environment, then a file made at first start. A configured but broken secret stops the start. */
export async function loadServerKey(options: KeyOptions): Promise<KeyResult> {
  const { env } = options;
  const variables = SECRET_NAMES.map((name) => ({ name, value: env[name] })).filter(({ value }) => value !== undefined);
  for (const name of SECRET_NAMES) delete env[name];

  const directory = env["CREDENTIALS_DIRECTORY"];
  if (directory !== undefined && directory !== "") {
    const path = join(directory, CREDENTIAL);
    const found = await readIfThere(path);
    if (found.kind === "broken") return { kind: "bad", problem: `The systemd credential ${CREDENTIAL} cannot be read (${found.code}).` };
    if (found.kind === "text") return keyFrom(found.text, `the systemd credential ${CREDENTIAL}`);
  }
  const variable = variables[0];
  if (variable !== undefined) return keyFrom(variable.value ?? "", `\`${variable.name}\``);
  const randomBytes = options.randomBytes ?? systemRandomBytes;
  if (!options.persist) return { kind: "ok", key: new ServerKey(freshSecret(randomBytes)), from: "this start only", warnings: [] };
  return fromFile(options.relayDataPath, randomBytes);
}

function keyFrom(text: string, from: string, warnings: readonly string[] = []): KeyResult {
  const secret = readSecret(text.trim());
  // The text itself is never repeated: it may be a secret with one wrong letter.
  if (secret === undefined) {
    return { kind: "bad", problem: `The server's key in ${from} is not an nsec or 64 hex digits of a valid key.` };
  }
  return { kind: "ok", key: new ServerKey(secret), from, warnings };
}

type Found =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "broken"; readonly code: string };

async function readIfThere(path: string): Promise<Found> {
  try {
    return { kind: "text", text: await readFile(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    return code === "ENOENT" ? { kind: "absent" } : { kind: "broken", code };
  }
}

async function fromFile(directory: string, randomBytes: (count: number) => Uint8Array): Promise<KeyResult> {
  const path = join(directory, FILE_NAME);
  const found = await readIfThere(path);
  if (found.kind === "broken") return { kind: "bad", problem: `The server's key in ${path} cannot be read (${found.code}).` };
  if (found.kind === "text") return keyFrom(found.text, path, await closeToOthers(path));
  try {
    await mkdir(directory, { recursive: true });
    await writeSecret(directory, path, `${encodeNsec(freshSecret(randomBytes))}\n`);
  } catch (error) {
    return {
      kind: "bad",
      problem: `The server's key cannot be written to ${path} (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`,
    };
  }
  // Read back, because another start may have been first: then its key is ours too.
  const written = await readIfThere(path);
  return written.kind === "text" ? keyFrom(written.text, path) : { kind: "bad", problem: `The server's key in ${path} cannot be read.` };
}

/** A key file that others may read is closed to them, and said so. */
async function closeToOthers(path: string): Promise<readonly string[]> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return [];
  try {
    await chmod(path, 0o600);
    return [`${path} was readable for others; it is now for its owner only.`];
  } catch {
    return [`${path} is readable for others and could not be closed to them.`];
  }
}

function freshSecret(randomBytes: (count: number) => Uint8Array): SecretKey {
  // All but about 2^-128 of the numbers are valid keys; three misses mean that the source is broken.
  for (let attempt = 0; attempt < 3; attempt++) {
    const secret = secretKey(Uint8Array.from(randomBytes(32)));
    if (secret !== undefined) return secret;
  }
  throw new Error("the source of random bytes gave no valid key");
}

/** Whole or not at all: written beside, synced, then linked into place, which fails when somebody was first. */
async function writeSecret(directory: string, path: string, text: string): Promise<void> {
  const beside = `${path}.${systemRandomBytes(8).toString("hex")}.new`;
  const file = await open(beside, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(beside).catch(() => undefined);
  }
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
