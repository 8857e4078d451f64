import type { Instant } from "../base/time.ts";
import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefMap } from "../git/ref-map.ts";
import type { RefName } from "../git/ref-name.ts";
import type { Service } from "../git/service.ts";
import type { RepoId } from "../grasp/repo-id.ts";

/** What there is to show of a repository now. */
export type RepoView =
  | {
      readonly kind: "served";
      readonly refs: RefMap;
      /** For refs whose value is an annotated tag: what it names in the end. */
      readonly peeled: ReadonlyMap<RefName, Oid>;
      readonly format: ObjectFormat;
      /** Absolute path of the bare repository. */
      readonly directory: string;
      /** Tips that a pusher need not send although no ref here shows them (grasp.md 7.13). */
      readonly haves?: readonly Oid[];
    }
  /** Its announcement waits, or is soft-expired: there is perhaps nothing on disk (grasp.md 5.5, 6.2). */
  | { readonly kind: "empty" }
  | { readonly kind: "unknown" };

/** From memory: asked for at every request. */
export interface Repositories {
  view(repo: RepoId, now: Instant): RepoView;
}

/** What a git path asks for (grasp.md 7.1). */
export type GitPath = { readonly repo: RepoId } & (
  | { readonly part: "refs"; readonly service: Service | undefined }
  | { readonly part: "service"; readonly service: Service }
);

export interface ClientAddress {
  /** What limits per address count by; absent for those that are not limited so. */
  readonly limitKey: string | undefined;
}

/** What this door tells; never a stranger's text as `where`. */
export interface GitReport {
  /** git gave up by itself. That may be a request that makes no sense or a repository that is broken: only `stderr` tells, and only to people. */
  gitExit(service: Service, code: number | undefined, stderr: string): void;
  fault(where: string, error: unknown): void;
}
