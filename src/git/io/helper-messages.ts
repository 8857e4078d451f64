/** What the server asks of its helper. They travel over Node's own channel between parent and child, which frames them. */
export type ToHelper =
  | {
      readonly kind: "run";
      readonly id: number;
      readonly path: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "kill"; readonly id: number };

export type FromHelper =
  | { readonly kind: "ready" }
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  /** It could not be started; the system's code says why. */
  | { readonly kind: "failed"; readonly id: number; readonly code: string }
  | {
      readonly kind: "exited";
      readonly id: number;
      readonly code: number | undefined;
      readonly signal: string | undefined;
      readonly stderr: string;
    }
  /** Something that should not happen happened, and the helper goes on. */
  | { readonly kind: "trouble"; readonly text: string };

export type Channel = "i" | "o";

/** The first bytes on a socket say whose input or output it is; nothing follows before the process has it. */
export const TICKET_BYTES = 9;

export const ticketText = (id: number, channel: Channel): string => id.toString(16).padStart(TICKET_BYTES - 1, "0") + channel;

export function readTicket(text: string): { readonly id: number; readonly channel: Channel } | undefined {
  const match = /^([0-9a-f]{8})([io])$/.exec(text);
  return match ? { id: Number.parseInt(match[1] as string, 16), channel: match[2] as Channel } : undefined;
}
