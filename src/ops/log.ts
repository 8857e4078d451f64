/** What a log line may carry beside its message: ids, names and numbers, never the content of an event. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type LogLineLevel = "debug" | "info" | "warn" | "error";

export interface Log {
  write(level: LogLineLevel, message: string, fields?: LogFields): void;
}
