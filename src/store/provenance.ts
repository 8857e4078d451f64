/** How an event came to be stored here (grasp.md 8.24). `relay` is a normalised relay URL. */
export type Provenance = { readonly how: "direct" } | { readonly how: "live" | "catch-up" | "daily"; readonly relay: string };
