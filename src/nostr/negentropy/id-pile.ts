import { ID_BYTES } from "./bound.ts";

/** Ids piled up one after the other, 32 bytes each. */
export class IdPile {
  #bytes = new Uint8Array(16 * ID_BYTES);
  #length = 0;

  add(ids: Uint8Array): void {
    const length = this.#length + ids.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(ids, this.#length);
    this.#length = length;
  }

  packed(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
