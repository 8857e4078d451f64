import { describe } from "vitest";
import type { OpenFunction } from "./store/bench.ts";
import { decisionContract } from "./store/decisions.ts";
import { feedContract } from "./store/feed.ts";
import { gateContract } from "./store/gates.ts";
import { heldContract } from "./store/held.ts";
import { historyContract } from "./store/histories.ts";
import { purgatoryContract } from "./store/purgatory-tables.ts";
import { queryContract } from "./store/queries.ts";
import { sliceContract } from "./store/slices.ts";
import { transactionContract } from "./store/transactions.ts";
import { upkeepContract } from "./store/upkeep.ts";
import { vanishContract } from "./store/vanish.ts";

/**
 * What every store must do, whatever it is made of. `open` gives an empty store each time it is called; `isOracle` is for the memory
 * store, which the others are compared with.
 */
export function runStoreContract(name: string, open: OpenFunction, { isOracle = false } = {}): void {
  describe(`${name} store`, () => {
    queryContract(open);
    sliceContract(open);
    feedContract(open);
    transactionContract(open);
    decisionContract(open);
    gateContract(open);
    vanishContract(open);
    upkeepContract(open);
    heldContract(open);
    purgatoryContract(open);
    historyContract(open, isOracle);
  });
}
