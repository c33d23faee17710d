import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

/** The serial line of the test guest: what it prints by itself, and commands with their answers. */
export class GuestLine {
  readonly #socket: Duplex;
  readonly #listeners = new Set<(line: string) => void>();
  #next = 1;

  private constructor(socket: Duplex) {
    this.#socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      for (const listener of this.#listeners) listener(line.trimEnd());
    });
  }

  /** The line that a stream is. */
  static over(stream: Duplex): GuestLine {
    return new GuestLine(stream);
  }

  static open(path: string): Promise<GuestLine> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new GuestLine(socket)));
    });
  }

  /** Lines until one fits; that one is the last. Rejects when it does not come in time. */
  lines(last: RegExp, timeoutMs = 60_000): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const seen: string[] = [];
      const late = setTimeout(() => {
        this.#listeners.delete(listener);
        reject(new Error(`the guest did not print ${last} but:\n${seen.join('\n')}`));
      }, timeoutMs);
      const listener = (line: string) => {
        seen.push(line);
        if (!last.test(line)) return;
        clearTimeout(late);
        this.#listeners.delete(listener);
        resolve(seen);
      };
      this.#listeners.add(listener);
    });
  }

  /** Runs a command of the guest's shell and gives what it printed. Rejects when it fails. */
  async run(command: string): Promise<string> {
    const mark = `mark${this.#next++}`;
    const answered = this.lines(new RegExp(`${mark}:`));
    this.#socket.write(`${mark} ${command}\n`);
    const lines = await answered;
    // The guest counts also in the middle of a line that a command has begun.
    const printed = lines.join('\n').replaceAll(/COUNT \d+\n/g, '');
    const [text, status] = printed.split(`${mark}:`) as [string, string];
    if (status !== '0') throw new Error(`the guest: ${command} ended with ${status}: ${text}`);
    return text.trim();
  }

  /** The next number that the guest counts to. */
  async count(): Promise<number> {
    const lines = await this.lines(/^COUNT \d+$/);
    return Number(lines.at(-1)!.split(' ')[1]);
  }

  close(): void {
    this.#socket.destroy();
  }
}
