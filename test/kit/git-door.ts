import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../src/base/clock.ts";
import type { GitProcesses } from "../../src/git/io/git-process.ts";
import { readRefs } from "../../src/git/io/refs.ts";
import type { ObjectFormat, Oid } from "../../src/git/oid.ts";
import type { RefName } from "../../src/git/ref-name.ts";
import { readIdentifier } from "../../src/grasp/identifier.ts";
import { type RepoId, repoPath } from "../../src/grasp/repo-id.ts";
import type { PublicKey } from "../../src/nostr/event.ts";
import { type FetchLimits, fetchEndpoint } from "../../src/smart-http/io/fetch-endpoint.ts";
import { gitHandler } from "../../src/smart-http/io/git-handler.ts";
import { infoRefs } from "../../src/smart-http/io/info-refs.ts";
import type { GitReport, RepoView } from "../../src/smart-http/ports.ts";
import { readGitPath } from "../../src/web/git-path.ts";
import { git } from "./git-rig.ts";

export interface GitDoorOptions {
  /** By identifier; every other repository is unknown. */
  readonly views: Readonly<Record<string, RepoView>>;
  readonly processes: GitProcesses;
  readonly clock: Clock;
  readonly limits?: FetchLimits;
  /** All clients come from this one address; none is limited without it. */
  readonly limitKey?: string;
}

export interface GitDoor extends AsyncDisposable {
  readonly port: number;
  url(identifier: string): string;
  path(identifier: string): string;
  /** Method, what was asked for, in which protocol, and how the body came: `GET info/refs 2`, `POST git-upload-pack 2 gzip chunked`. */
  readonly asked: string[];
  readonly exits: string[];
  readonly faults: string[];
}

const OWNER = "1".repeat(64) as PublicKey;

/** The git door alone behind a plain HTTP server. */
export async function openGitDoor(options: GitDoorOptions): Promise<GitDoor> {
  const { views, clock, processes } = options;
  const [asked, exits, faults]: [string[], string[], string[]] = [[], [], []];
  const report: GitReport = {
    gitExit: (service, code, stderr) => void exits.push(`${service} ${code} ${stderr}`),
    fault: (where, error) => void faults.push(`${where}: ${String(error)}`),
  };
  const repositories = { view: (repo: RepoId): RepoView => views[repo.identifier] ?? { kind: "unknown" } };
  const limits = options.limits === undefined ? {} : { limits: options.limits };
  const handler = gitHandler({
    refs: infoRefs({ repositories, clock, report, agent: "holdfast/test" }),
    fetch: fetchEndpoint({ repositories, processes, clock, report, ...limits }),
    push: async (_request, response) => void response.writeHead(501).end(),
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const path = readGitPath(url.pathname, url.search);
    if (path === undefined || path.part === "page") return void response.writeHead(404).end();
    const version = /version=(\d)/.exec(String(request.headers["git-protocol"]))?.[1] ?? "0";
    const how = [request.headers["content-encoding"], request.headers["transfer-encoding"]].filter((word) => word !== undefined);
    asked.push([request.method, url.pathname.split(".git/")[1], version, ...how].join(" "));
    void handler(request, response, path, { limitKey: options.limitKey });
  };
  const server = createServer(onRequest).on("checkContinue", onRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const path = (name: string): string => {
    const identifier = readIdentifier(name);
    if (identifier === undefined) throw new Error(`no identifier: ${name}`);
    return repoPath({ owner: OWNER, identifier });
  };
  return {
    port,
    path,
    url: (name) => `http://127.0.0.1:${port}${path(name)}`,
    asked,
    exits,
    faults,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A repository on disk as a served view. */
export async function servedView(directory: string, format: ObjectFormat = "sha1"): Promise<RepoView> {
  const lines = git(["for-each-ref", "--format=%(refname) %(*objectname)"], { cwd: directory }).split("\n");
  const peeled = lines.map((line) => line.split(" ") as [RefName, Oid]).filter(([, oid]) => oid);
  return { kind: "served", refs: await readRefs(directory), peeled: new Map(peeled), format, directory };
}
