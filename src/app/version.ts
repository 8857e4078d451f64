import { createRequire } from "node:module";
import type { Build } from "./config-web.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/** What this build is and does. */
export const BUILD: Build = { version, grasps: [] };
