import type { Oid } from "../git/oid.ts";
import { isFor } from "../grasp/pull-request.ts";
import type { EventId } from "../nostr/event.ts";
import type { PushDeed, PushFacts } from "./push-facts.ts";
import { PUSH_REASONS, pullRequestElsewhere, pullRequestExpects, tooManyTips } from "./push-reason.ts";

/** grasp.md 7.9: `refs/nostr/<id>` is judged by its event, or waits in staging for it. States have no say. */
export function judgePullRequestRef(event: EventId, to: Oid | undefined, facts: PushFacts): string | PushDeed {
  if (to === undefined) return PUSH_REASONS.pullRequestDelete;
  const request = facts.pullRequests.get(event);
  if (request === undefined) return judgeUnsigned(event, to, facts);
  if (!isFor(request, facts.repo, facts.confirmed)) return pullRequestElsewhere(event, request.author);
  return request.tip === to ? { kind: "apply" } : pullRequestExpects(event, request.author, request.tip);
}

function judgeUnsigned(event: EventId, tip: Oid, { unsigned }: PushFacts): string | PushDeed {
  const others = (unsigned.tips.get(event) ?? []).filter((staged) => staged !== tip);
  if (others.length >= unsigned.tipsPerIdMax) return tooManyTips(unsigned.tipsPerIdMax);
  return unsigned.bytesLeft > 0 ? { kind: "stage", event, tip } : PUSH_REASONS.noRoomForUnsigned;
}
