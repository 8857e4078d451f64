import type { Clock } from "../../base/clock.ts";
import type { Intake } from "../../intake/io/intake-service.ts";
import type { Report } from "../../ops/report.ts";
import type { Reader, Seq } from "../../store/event-store.ts";
import type { ReaderThread } from "./reader-thread.ts";

/** The reader of the main thread: short reads only, and the newest number without waiting. */
export interface NearReader extends Reader {
  headNow(): Seq;
}

/** What happens on connections, for logs and metrics. */
export type RelayReport = Pick<
  Report,
  | "connectionOpened"
  | "connectionClosed"
  | "messageReceived"
  | "messagesSent"
  | "eventReceived"
  | "eventStored"
  | "eventRejected"
  | "queryAnswered"
  | "fault"
>;

/** What the relay needs of the rest. */
export interface RelayPorts {
  readonly clock: Clock;
  readonly intake: Intake;
  readonly reader: NearReader;
  readonly far: ReaderThread;
  readonly report: RelayReport;
  /** 16 random bytes as hex. */
  challenge(): string;
  /** May this address do so many more of these now? (grasp.md 3.3: limits per address.) */
  readonly allows: (limitKey: string | undefined, what: "events" | "queries" | "messages" | "auths", n?: number) => boolean;
}
