import { MemoryStore } from "../../src/store/memory-store.ts";
import { runStoreContract } from "./store-contract.ts";

const open = async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, feed: store, held: store.held, close: async () => undefined };
};

runStoreContract("memory", open, { isOracle: true });
