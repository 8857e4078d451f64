import { createConnection } from "node:net";
import { expect } from "vitest";
import { UpgradeRefused } from "../../kit/relay-client.ts";
import { ask } from "../http.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
  "access-control-allow-headers": "Authorization, Content-Type, Git-Protocol, Accept, Content-Encoding, X-Requested-With",
  "access-control-expose-headers": "WWW-Authenticate, Retry-After",
};

/** What exists, what does not, and what is not allowed. */
const PATHS = ["/", "/.well-known/nostr.json", "/metrics", "/healthz", "/readyz", "/no/such/thing", "/%ff%00", "/..%2f..%2fetc/passwd"];

proves("GRASP:2.1/options GRASP:2.2/preflight", "OPTIONS anywhere is 204 with a day of max age", async (t) => {
  for (const path of PATHS) {
    const answer = await ask(t.server.httpUrl + path, { method: "OPTIONS", headers: { Origin: "https://x.example" } });
    expect(answer, path).toMatchObject({ status: 204, body: "", headers: { ...CORS, "access-control-max-age": "86400" } });
  }
});

proves("GRASP:2.1/upgrade-list", "any Connection list that contains upgrade opens the relay", async (t) => {
  const { hostname, port, pathname } = new URL(t.server.httpUrl);
  for (const connection of ["Upgrade", "keep-alive, Upgrade", "UPGRADE", "close,upgrade"]) {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = createConnection({ host: hostname, port: Number(port) });
      socket.once("error", reject);
      socket.once("data", (data) => {
        resolve(data.toString("latin1").split("\r\n")[0] ?? "");
        socket.destroy();
      });
      const lines = [
        `GET ${pathname} HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        `Connection: ${connection}`,
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    });
    expect(status, connection).toBe("HTTP/1.1 101 Switching Protocols");
  }
});

proves("GRASP:2.1/nip-11", "the information document is at / for those who ask for it, and only for them", async (t) => {
  for (const accept of ["application/nostr+json", "application/nostr+json, */*;q=0.1", "text/html;q=0.5,Application/Nostr+JSON"]) {
    const document = await ask(`${t.server.httpUrl}/`, { headers: { Accept: accept } });
    expect(document.status, accept).toBe(200);
    expect(JSON.parse(document.body), accept).toEqual(t.info);
  }
  const page = await ask(`${t.server.httpUrl}/`, { headers: { Accept: "text/html" } });
  expect(page.headers["content-type"] ?? "").not.toContain("nostr+json");
});

proves("GRASP:2.1/nostr-json GRASP:2.5/nip-05", "NIP-05 and NIP-11 name the same key", async (t) => {
  const answer = await ask(`${t.server.httpUrl}/.well-known/nostr.json`);
  expect(answer.status).toBe(200);
  expect(answer.headers["content-type"]).toContain("application/json");
  expect(JSON.parse(answer.body)).toEqual({ names: { _: t.info["pubkey"] } });
  expect((await ask(`${t.server.httpUrl}/.well-known/nostr.json?name=_`)).body).toBe(answer.body);
});

proves("GRASP:2.1/metrics", "/metrics is in Prometheus' text form", async (t) => {
  const { status, headers, body } = await ask(`${t.server.httpUrl}/metrics`);
  expect(status).toBe(200);
  expect(headers["content-type"]).toContain("text/plain");
  expect(body).toMatch(/^# TYPE ngit_\w+ (counter|gauge|histogram|summary)$/m);
  expect(body).toMatch(/^ngit_\w+(\{[^}]*\})? [0-9.e+-]+$/m);
});

proves("GRASP:2.1/healthz GRASP:2.1/readyz", "a server that answers is alive and ready", async (t) => {
  expect((await ask(`${t.server.httpUrl}/healthz`)).status).toBe(200);
  expect((await ask(`${t.server.httpUrl}/readyz`)).status).toBe(200);
});

proves("GRASP:2.1/head", "HEAD answers as GET does, without a body", async (t) => {
  for (const path of PATHS) {
    const [get, head] = [await ask(t.server.httpUrl + path), await ask(t.server.httpUrl + path, { method: "HEAD" })];
    expect(head.status, path).toBe(get.status);
    expect(head.body, path).toBe("");
    expect(head.headers["content-type"], path).toBe(get.headers["content-type"]);
  }
  const document = await ask(`${t.server.httpUrl}/`, { method: "HEAD", headers: { Accept: "application/nostr+json" } });
  expect(document).toMatchObject({ status: 200, body: "" });
});

proves("GRASP:2.2/every-response GRASP:2.2/errors", "the CORS headers are on answers and on errors", async (t) => {
  for (const path of PATHS) expect((await ask(t.server.httpUrl + path)).headers, path).toMatchObject(CORS);
  const missing = await ask(`${t.server.httpUrl}/no/such/thing`);
  expect(missing.status).toBe(404);
  for (const method of ["DELETE", "PUT", "PATCH"]) {
    const refused = await ask(`${t.server.httpUrl}/`, { method });
    expect(refused.status, method).toBeGreaterThanOrEqual(400);
    expect(refused.headers, method).toMatchObject(CORS);
  }
  expect((await ask(`${t.server.httpUrl}/`, { headers: { Accept: "application/nostr+json" } })).headers).toMatchObject(CORS);
});

proves("GRASP:2.2/upgrade GRASP:2.2/errors", "the CORS headers are on 101 and on a refused upgrade", async (t) => {
  const client = await t.connect();
  expect(client.headers).toMatchObject(CORS);
  const refusal = await t.connect({}, "/no/such/relay").catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UpgradeRefused);
  expect((refusal as UpgradeRefused).headers).toMatchObject(CORS);
});
