import { type IncomingHttpHeaders, request } from "node:http";
import { DEADLINE_MS } from "../kit/relay-client.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request on a connection of its own, closed afterwards: a kept one would count against the server's limits. */
export function ask(url: string, { method = "GET", headers = {} }: Question = {}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false, timeout: DEADLINE_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${url} within ${DEADLINE_MS} ms`)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}
