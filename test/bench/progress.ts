/** A line at most this often: enough to see that it lives, not enough to cost anything. */
const EVERY_MS = 2_000;

/** Tells the person who waits what happens, on stderr, so that stdout stays the table. */
export class Progress {
  #last = 0;

  say(text: string): void {
    process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
  }

  count(what: string, done: number, of: number): void {
    if (done % 256 !== 0 && done !== of) return;
    const now = performance.now();
    if (now - this.#last < EVERY_MS) return;
    this.#last = now;
    this.say(`${what}: ${done.toLocaleString("en")} of ${of.toLocaleString("en")} (${Math.floor((done / of) * 100)} %)`);
  }
}
