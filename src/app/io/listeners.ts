import type { Server } from "node:net";
import { type BindAddress, showAddress } from "../settings/place-types.ts";

/** How the server gets its listening socket. */
export type Listener =
  | { readonly kind: "address"; readonly address: BindAddress }
  | { readonly kind: "descriptor"; readonly fd: number; readonly from: string };

export type ListenerChoice =
  | { readonly kind: "ok"; readonly listener: Listener; readonly warnings: readonly string[] }
  | { readonly kind: "bad"; readonly problem: string };

/** systemd passes its sockets from here on. */
const FIRST_PASSED_FD = 3;
const NAMES = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NGIT_TEST_LISTENER_FD"] as const;

/** A socket that systemd or a test passed, else the bind address. The names are removed from `env`: a child must not think the socket its own. */
export function chooseListener(env: Record<string, string | undefined>, pid: number, address: BindAddress): ListenerChoice {
  const [fds, forPid, , testFd] = NAMES.map((name) => env[name]);
  for (const name of NAMES) delete env[name];

  if (testFd !== undefined && testFd !== "") {
    if (!/^\d{1,6}$/.test(testFd) || Number(testFd) < FIRST_PASSED_FD) {
      return { kind: "bad", problem: "`NGIT_TEST_LISTENER_FD` is not a file descriptor: expected a whole number of 3 or more." };
    }
    return { kind: "ok", listener: { kind: "descriptor", fd: Number(testFd), from: "NGIT_TEST_LISTENER_FD" }, warnings: [] };
  }
  // sd_listen_fds: sockets that are meant for another process are none of ours.
  if (fds === undefined || forPid !== String(pid)) return { kind: "ok", listener: { kind: "address", address }, warnings: [] };
  if (!/^\d{1,4}$/.test(fds) || Number(fds) < 1) return { kind: "bad", problem: "`LISTEN_FDS` is not a number of sockets of 1 or more." };
  const warnings = fds === "1" ? [] : [`systemd passed ${fds} sockets; only the first is listened on.`];
  return { kind: "ok", listener: { kind: "descriptor", fd: FIRST_PASSED_FD, from: "systemd" }, warnings };
}

/** Half-open connections that the kernel keeps for us while we are busy; it cuts this to its own limit. */
const BACKLOG = 4_096;

/** Listens, and says on which address and port it really does. Rejects with a sentence. */
export function listen(server: Server, listener: Listener): Promise<BindAddress> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(new Error(failure(listener, error), { cause: error }));
    server.once("error", failed);
    server.once("listening", () => {
      server.off("error", failed);
      const bound = server.address();
      if (bound === null || typeof bound === "string") reject(new Error("The passed socket is not a TCP socket."));
      else resolve({ host: bound.address, port: bound.port });
    });
    if (listener.kind === "descriptor") server.listen({ fd: listener.fd, backlog: BACKLOG });
    else server.listen({ host: listener.address.host, port: listener.address.port, backlog: BACKLOG });
  });
}

function failure(listener: Listener, { code }: NodeJS.ErrnoException): string {
  if (listener.kind === "descriptor")
    return `The socket that ${listener.from} passed (descriptor ${listener.fd}) cannot be listened on (${code ?? "unknown"}).`;
  const where = showAddress(listener.address);
  switch (code) {
    case "EADDRINUSE":
      return `Something else already listens on ${where}.`;
    case "EACCES":
      return `This user may not listen on ${where}.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `This machine has no address ${listener.address.host}.`;
    default:
      return `Cannot listen on ${where} (${code ?? "unknown"}).`;
  }
}
