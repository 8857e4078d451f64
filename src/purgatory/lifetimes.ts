const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long things wait, and how many of them. Every one is a setting; the reasons stand beside the defaults. */
export interface Lifetimes {
  readonly waitMs: number;
  readonly invitedMs: number;
  readonly announcementMaxMs: number;
  readonly softMs: number;
  readonly rememberMs: number;
  readonly tipMs: number;
  readonly firstRoundMs: number;
  readonly fetchLostMs: number;
  readonly settleMs: number;
  readonly statesPerAuthor: number;
  readonly invitedPerAuthor: number;
  readonly invitedPerProject: number;
  readonly pullRequestsPerAuthor: number;
  readonly pullRequestsPerRepository: number;
  readonly tipsPerId: number;
  readonly waitingMax: number;
  readonly softMax: number;
  readonly rememberedMax: number;
  readonly tipsMax: number;
  readonly fetchesMax: number;
}

export const LIFETIMES: Lifetimes = {
  /** grasp.md 6.2: long enough for a slow first push after its events, short enough that what nobody pushes is gone the same hour. */
  waitMs: 30 * MINUTE_MS,
  /** grasp.md 4.5: an invitation is answered by a person, who may be away for some days. */
  invitedMs: 7 * DAY_MS,
  /** grasp.md 6.2: signs of life must not keep an announcement without git data for ever. */
  announcementMaxMs: DAY_MS,
  /** grasp.md 6.2: who announced in the evening and pushes the next morning finds the repository. */
  softMs: DAY_MS,
  /** grasp.md 6.3: as long as a peer may go on offering it; after that asking once more costs little. */
  rememberMs: 7 * DAY_MS,
  /** grasp.md 7.9: clients send the event within seconds of the tip; unsigned objects shall not stay. */
  tipMs: 20 * MINUTE_MS,
  /** grasp.md 6.2: nothing expires before one full hunting round after a start. Rounds come within minutes (9.1); a project that none is reported for, because it has no source or nothing to ask for, is not kept longer than a whole wait. */
  firstRoundMs: 30 * MINUTE_MS,
  /** grasp.md 9.4 kills a fetch after 2 h: one whose end is not known some minutes later was lost. Whoever takes longer (a push) says so again. */
  fetchLostMs: 2 * HOUR_MS + 5 * MINUTE_MS,
  /** What a fetch brought is settled after it ended; until then it is not too late. */
  settleMs: MINUTE_MS,
  /** grasp.md 6.1. */
  statesPerAuthor: 16,
  /** grasp.md 4.5: invited keys authorise nothing, so their newest word is enough. */
  invitedPerAuthor: 1,
  invitedPerProject: 16,
  /** grasp.md 6.1. */
  pullRequestsPerAuthor: 50,
  pullRequestsPerRepository: 500,
  /** grasp.md 7.9: so that nobody can overwrite another's, nor fill the disk under one id. */
  tipsPerId: 4,
  /** Memory, about 300 bytes each; twice the ten thousand new repositories that must cost nothing (grasp.md 5.5). */
  waitingMax: 20_000,
  softMax: 20_000,
  /** grasp.md 6.3: bounded in number. A week of a thousand a day, and some. */
  rememberedMax: 10_000,
  /** Far above what the unsigned share of the repositories (grasp.md 7.16) leaves room for. */
  tipsMax: 10_000,
  /** Many times the git processes and hunts that may run at once (grasp.md 7.16, 9.6). */
  fetchesMax: 4_096,
};
