import { FaultError } from "../../base/fault.ts";
import { type GitCommand, HelperConnection, type StartedGit } from "./helper-connection.ts";

export interface GitHelperOptions {
  /** The helper died, or met what it should not have met. It is started again at the next request. */
  readonly onTrouble: (text: string) => void;
}

/** Keeps one helper process: what it ran when it died has failed, what comes next gets a new one. */
export class GitHelper implements AsyncDisposable {
  readonly #options: GitHelperOptions;
  #connection: HelperConnection | undefined;
  #isClosed = false;

  constructor(options: GitHelperOptions) {
    this.#options = options;
  }

  /** The process id of the helper, while there is one. */
  get pid(): number | undefined {
    return this.#connection?.pid;
  }

  /** Starting it costs a fork of the whole server, so that is done at boot, while the server is small. */
  async ready(): Promise<void> {
    await this.#open().ready();
  }

  async start(command: GitCommand): Promise<StartedGit> {
    const connection = this.#open();
    try {
      await connection.ready();
      return await connection.start(command);
    } catch (error) {
      if (connection.isOpen) throw error;
      // It died under this request before git had begun, so nothing is done twice. A second time is no accident.
      const next = this.#open();
      await next.ready();
      return next.start(command);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  #open(): HelperConnection {
    if (this.#isClosed) throw new FaultError({ kind: "aborted" });
    if (this.#connection?.isOpen) return this.#connection;
    const connection = new HelperConnection(this.#options.onTrouble);
    this.#connection = connection;
    void connection.ended.then(() => {
      if (!this.#isClosed) this.#options.onTrouble("The process that starts git has ended; it is started again.");
    });
    return connection;
  }
}
