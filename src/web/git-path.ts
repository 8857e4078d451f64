import { readService, type Service } from "../git/service.ts";
import { type RepoId, readRepoPath } from "../grasp/repo-id.ts";

/** What a git path asks for (grasp.md 7.1). Whether there is such a repository is another question. */
export type GitPath = { readonly repo: RepoId } & (
  | { readonly part: "page" }
  | { readonly part: "refs"; readonly service: Service | undefined }
  | { readonly part: "service"; readonly service: Service }
);

/** `/<npub>/<identifier>.git`, its `info/refs` and its two services; `undefined` for every other path. */
export function readGitPath(path: string, query: string): GitPath | undefined {
  const found = readRepoPath(path);
  if (found === undefined) return undefined;
  const { repo } = found;
  // Clients append to the address they were given, with its slash at the end or without.
  const rest = found.rest.replace(/^\/\//, "/");
  if (rest === "" || rest === "/") return { repo, part: "page" };
  if (rest === "/info/refs") return { repo, part: "refs", service: askedFor(query) };
  const service = readService(rest.slice(1));
  return service === undefined ? undefined : { repo, part: "service", service };
}

/** Exactly one `service`, or none: of two it would matter who reads which. */
function askedFor(query: string): Service | undefined {
  const asked = new URLSearchParams(query).getAll("service");
  return asked.length === 1 ? readService(asked[0] as string) : undefined;
}
