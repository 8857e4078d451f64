import type { Clock } from "../../base/clock.ts";
import { receiveAdvertisement, uploadAdvertisement } from "../../git/advertisement.ts";
import { type ProtocolVersion, readProtocolVersion } from "../../git/service.ts";
import { advertised, FAILED, type GitAnswer, NOT_FOUND, SMART_ONLY } from "../git-answer.ts";
import type { GitPath, GitReport, Repositories } from "../ports.ts";
import { shownRefs } from "../repo-view.ts";
import type { GitHandler } from "./git-handler.ts";
import { writeAnswer } from "./write-answer.ts";

export interface InfoRefsOptions {
  readonly repositories: Repositories;
  readonly clock: Clock;
  /** One word, like `holdfast/1.0`. */
  readonly agent: string;
  readonly report: GitReport;
}

/** grasp.md 7.15: from memory, without starting git. */
export function infoRefs(options: InfoRefsOptions): GitHandler {
  return async (request, response, path) => {
    let answer: GitAnswer;
    try {
      answer = refsAnswer(options, path, readProtocolVersion(headerText(request.headers["git-protocol"])));
    } catch (error) {
      options.report.fault("info/refs", error);
      answer = FAILED;
    }
    writeAnswer(request, response, answer);
  };
}

function refsAnswer({ repositories, clock, agent }: InfoRefsOptions, path: GitPath, version: ProtocolVersion): GitAnswer {
  if (path.service === undefined) return SMART_ONLY;
  const view = repositories.view(path.repo, clock.now());
  const shown = shownRefs(view);
  if (shown === undefined) return NOT_FOUND;
  if (path.service === "upload-pack") return advertised("upload-pack", uploadAdvertisement(shown, agent, version));
  const haves = view.kind === "served" ? (view.haves ?? []) : [];
  return advertised("receive-pack", receiveAdvertisement(shown, haves, agent, version));
}

/** node:http joins what came on several lines, so a list stands for nothing that git sends. */
export const headerText = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
