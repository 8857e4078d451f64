import { MemoryStore } from "../../src/store/memory-store.ts";
import { runStoreContract } from "./store-contract.ts";

runStoreContract("memory", async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, feed: store, close: async () => undefined };
});
