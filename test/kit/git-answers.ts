import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface GitAsked {
  readonly method: string;
  readonly url: URL;
  readonly protocol: string | undefined;
  readonly body: Buffer;
}

export interface GitAnswer {
  readonly type: string;
  readonly body: Uint8Array;
}

/** An HTTP server that answers with prepared bytes: what does a real git make of them? */
export async function answerGit(answer: (asked: GitAsked) => GitAnswer): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const protocol = request.headers["git-protocol"];
      const { type, body } = answer({
        method: request.method ?? "",
        url: new URL(request.url ?? "/", "http://localhost"),
        protocol: typeof protocol === "string" ? protocol : undefined,
        body: Buffer.concat(chunks),
      });
      response.writeHead(200, { "content-type": type, "cache-control": "no-cache" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/r.git`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
