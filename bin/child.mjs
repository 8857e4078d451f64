// What a process started by `pinned-node.mjs` does first: it ends when its parent does, and takes over the listeners handed down.
import { Socket } from "node:net";

const { HOLDFAST_LIFELINE_FD: lifeline, HOLDFAST_LISTEN_FDS: listeners } = process.env;
// Our own children have other parents and other descriptors.
delete process.env.HOLDFAST_LIFELINE_FD;
delete process.env.HOLDFAST_LISTEN_FDS;

if (listeners !== undefined) {
  process.env.LISTEN_FDS = listeners;
  process.env.LISTEN_PID = String(process.pid);
}

if (lifeline !== undefined) {
  // The parent never writes: the pipe only ever ends, and it does so even when the parent was killed.
  const end = new Socket({ fd: Number(lifeline), readable: true, writable: false });
  end.on("error", () => undefined);
  end.on("close", () => process.kill(process.pid, "SIGTERM"));
  end.resume();
  end.unref();
}
