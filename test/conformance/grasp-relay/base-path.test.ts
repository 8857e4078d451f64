import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { UpgradeRefused } from "../../kit/relay-client.ts";
import { ask } from "../http.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({ env: { HOLDFAST_BASE_PATH: "/some/where" } });

proves("GRASP:2.3/base-path", "everything is below the base path and nothing outside it", async (t) => {
  const origin = new URL(t.server.httpUrl).origin;
  for (const path of ["/metrics", "/healthz", "/readyz"]) expect((await ask(t.server.httpUrl + path)).status, path).toBe(200);
  for (const path of ["/metrics", "/some", "/some/wherever/healthz"]) expect((await ask(origin + path)).status, path).toBe(404);
  for (const root of [t.server.httpUrl, `${t.server.httpUrl}/`]) {
    const document = await ask(root, { headers: { Accept: "application/nostr+json" } });
    expect(JSON.parse(document.body), root).toMatchObject({ limitation: {} });
  }
});

proves("GRASP:2.3/base-path", "the relay is at the base path, with and without a trailing slash", async (t) => {
  for (const path of ["", "/"]) {
    const client = await t.connect({}, path);
    await t.accepted(client, note(t.alice, `at ${path}`));
  }
  const outside = t.connect({}, "/../..");
  await expect(outside).rejects.toBeInstanceOf(UpgradeRefused);
});
