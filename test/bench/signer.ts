import { createHash } from "node:crypto";
import { schnorr } from "@noble/curves/secp256k1.js";
import koffi from "koffi";
import * as wasm from "tiny-secp256k1";

/** Signs 32-byte event ids. Which one is in use is printed, since the slow ones turn minutes of preparation into hours. */
export interface Signer {
  readonly name: string;
  publicKey(secret: Uint8Array): Uint8Array;
  /** Deterministic: the same key and id give the same 64 bytes, so that a cache made twice is the same cache. */
  sign(id: Uint8Array, secret: Uint8Array): Uint8Array;
}

/** The library's file name carries its ABI version; schnorrsig_sign32 has the same shape in all of these. */
const LIBRARY_NAMES = ["libsecp256k1.so.6", "libsecp256k1.so.5", "libsecp256k1.so.2", "libsecp256k1.so.1", "libsecp256k1.dylib"];

/** SECP256K1_CONTEXT_NONE plus SIGN, which older versions insist on. */
const CONTEXT_SIGN = 0x201;
const KEYPAIR_BYTES = 96;
const XONLY_BYTES = 64;

const NO_AUX = new Uint8Array(32);

/** The fastest signer this machine has, proven by one signature that another implementation accepts. */
export function openSigner(): Signer {
  for (const open of [nativeSigner, wasmSigner, pureSigner]) {
    try {
      const signer = open();
      const secret = createHash("sha256").update("bench self test").digest();
      const id = createHash("sha256").update("bench self test id").digest();
      if (schnorr.verify(signer.sign(id, secret), id, signer.publicKey(secret))) return signer;
    } catch {
      // Not on this machine: the next one is slower but the same.
    }
  }
  throw new Error("no way to sign events was found");
}

function nativeSigner(): Signer {
  const library = loadFirst();
  const createContext = library.func("void *secp256k1_context_create(unsigned int flags)");
  const createKeypair = library.func("int secp256k1_keypair_create(void *ctx, _Out_ uint8_t *keypair, const uint8_t *secret)");
  const xonlyOf = library.func("int secp256k1_keypair_xonly_pub(void *ctx, _Out_ uint8_t *pub, void *parity, const uint8_t *keypair)");
  const serialize = library.func("int secp256k1_xonly_pubkey_serialize(void *ctx, _Out_ uint8_t *out32, const uint8_t *pub)");
  const sign32 = library.func(
    "int secp256k1_schnorrsig_sign32(void *ctx, _Out_ uint8_t *sig64, const uint8_t *msg32, const uint8_t *keypair, const uint8_t *aux32)",
  );
  const context: unknown = createContext(CONTEXT_SIGN);
  const keypairs = new Map<string, Uint8Array>();

  const keypairOf = (secret: Uint8Array): Uint8Array => {
    const key = Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength).toString("latin1");
    let keypair = keypairs.get(key);
    if (keypair === undefined) {
      keypair = new Uint8Array(KEYPAIR_BYTES);
      if (createKeypair(context, keypair, secret) !== 1) throw new Error("not a secret key");
      keypairs.set(key, keypair);
    }
    return keypair;
  };
  return {
    name: "libsecp256k1",
    publicKey(secret) {
      const point = new Uint8Array(XONLY_BYTES);
      const out = new Uint8Array(32);
      xonlyOf(context, point, null, keypairOf(secret));
      serialize(context, out, point);
      return out;
    },
    sign(id, secret) {
      const signature = new Uint8Array(64);
      if (sign32(context, signature, id, keypairOf(secret), NO_AUX) !== 1) throw new Error("signing failed");
      return signature;
    },
  };
}

function loadFirst(): ReturnType<typeof koffi.load> {
  for (const name of LIBRARY_NAMES) {
    try {
      return koffi.load(name);
    } catch {
      // Another version may be installed.
    }
  }
  throw new Error("libsecp256k1 is not installed");
}

const wasmSigner = (): Signer => ({
  name: "tiny-secp256k1 (wasm, several times slower)",
  publicKey: (secret) => wasm.xOnlyPointFromScalar(secret),
  sign: (id, secret) => wasm.signSchnorr(id, secret, NO_AUX),
});

const pureSigner = (): Signer => ({
  name: "noble (pure JavaScript, some fifty times slower)",
  publicKey: (secret) => schnorr.getPublicKey(secret),
  sign: (id, secret) => schnorr.sign(id, secret, NO_AUX),
});
