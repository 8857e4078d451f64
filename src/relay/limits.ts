/** What one connection may ask of us (grasp.md 3.3). 0 in a rate: no limit. */
export interface RelayLimits {
  readonly subscriptions: number;
  readonly subscriptionBytes: number;
  readonly subscriptionIdLength: number;
  readonly filtersPerRequest: number;
  readonly valuesPerRequest: number;
  readonly resultsMax: number;
  readonly resultsDefault: number;
  readonly messageBytes: number;
  readonly eventBytes: number;
  readonly negentropySessions: number;
  readonly negentropyItems: number;
  readonly eventsPerMinute: number;
  readonly queriesPerMinute: number;
  readonly messagesPerMinute: number;
  readonly authsPerMinute: number;
  /** Events handed in and not answered yet: beyond it we stop reading from the connection until some are. */
  readonly unansweredEvents: number;
  readonly pingAfterMs: number;
  readonly pongWithinMs: number;
}
