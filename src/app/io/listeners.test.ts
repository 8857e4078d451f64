import { spawn } from "node:child_process";
import { createServer, type Server } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { chooseListener, listen } from "./listeners.ts";

const address = { host: "127.0.0.1", port: 0 };
const servers: Server[] = [];
const server = (): Server => {
  const made = createServer();
  servers.push(made);
  return made;
};
afterEach(() => {
  for (const made of servers.splice(0)) made.close();
});

describe("which socket", () => {
  test.each([
    [{}, { kind: "address", address }],
    [
      { LISTEN_FDS: "1", LISTEN_PID: "42" },
      { kind: "descriptor", fd: 3, from: "systemd" },
    ],
    [
      { LISTEN_FDS: "1", LISTEN_PID: "41" },
      { kind: "address", address },
    ],
    [{ LISTEN_FDS: "1" }, { kind: "address", address }],
    [
      { NGIT_TEST_LISTENER_FD: "7", LISTEN_FDS: "1", LISTEN_PID: "42" },
      { kind: "descriptor", fd: 7, from: "NGIT_TEST_LISTENER_FD" },
    ],
    [{ NGIT_TEST_LISTENER_FD: "" }, { kind: "address", address }],
  ])("%j", (given, listener) => {
    const env: Record<string, string | undefined> = { ...given };
    expect(chooseListener(env, 42, address)).toEqual({ kind: "ok", listener, warnings: [] });
    expect(env).toEqual({});
  });

  test.each([{ NGIT_TEST_LISTENER_FD: "x" }, { NGIT_TEST_LISTENER_FD: "1" }, { LISTEN_FDS: "0", LISTEN_PID: "42" }])(
    "%j is refused",
    (env) => {
      expect(chooseListener({ ...env }, 42, address).kind).toBe("bad");
    },
  );

  test("more sockets than one are pointed out", () => {
    expect(chooseListener({ LISTEN_FDS: "2", LISTEN_PID: "42" }, 42, address)).toMatchObject({
      warnings: [expect.stringContaining("2 sockets")],
    });
  });
});

describe("listening", () => {
  test("port 0 reports the real port", async () => {
    const bound = await listen(server(), { kind: "address", address });
    expect(bound.host).toBe("127.0.0.1");
    expect(bound.port).toBeGreaterThan(0);
  });

  test("a taken port is a sentence", async () => {
    const bound = await listen(server(), { kind: "address", address });
    await expect(listen(server(), { kind: "address", address: bound })).rejects.toThrow(
      `Something else already listens on 127.0.0.1:${bound.port}.`,
    );
  });

  test("a socket passed to another process is listened on there", async () => {
    const first = server();
    const bound = await listen(first, { kind: "address", address });
    const { fd } = (first as unknown as { _handle: { fd: number } })._handle;
    const program = `
      import { createServer } from "node:net";
      import { chooseListener, listen } from ${JSON.stringify(new URL("./listeners.ts", import.meta.url).href)};
      const choice = chooseListener(process.env, process.pid, { host: "127.0.0.1", port: 1 });
      const server = createServer();
      console.log(JSON.stringify(await listen(server, choice.listener)));
      server.close();
    `;
    const env = { ...process.env, NGIT_TEST_LISTENER_FD: "3" };
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit", fd], env });
    expect(JSON.parse(await text(child.stdio[1] as Readable))).toEqual(bound);
  });

  test("a descriptor that is no socket is a sentence", async () => {
    await expect(listen(server(), { kind: "descriptor", fd: 999, from: "a test" })).rejects.toThrow("descriptor 999");
  });
});
