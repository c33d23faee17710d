import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

/** The serial line of the test guest. It transmits commands and their output, and what the guest prints on its own. */
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

  /** Creates a serial line on a stream. */
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

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** Returns all new lines up to the first match. Rejects if no line matches in time. */
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

  /** Runs a command in the guest's shell, and returns the output. Rejects if the command fails. */
  async run(command: string): Promise<string> {
    const mark = `mark${this.#next++}`;
    const responded = this.lines(new RegExp(`${mark}:`));
    this.#socket.write(`${mark} ${command}\n`);
    const lines = await responded;
    // A connection may begin in the middle of a line, so everything before the output is discarded.
    const output = lines.join('\n').split(`${mark} begins\n`).at(-1) ?? '';
    // The guest also prints numbers in the middle of a command's output.
    const printed = output.replaceAll(/COUNT \d+\n/g, '');
    const [text, status] = printed.split(`${mark}:`) as [string, string];
    if (status !== '0') throw new Error(`the guest: ${command} ended with ${status}: ${text}`);
    return text.trim();
  }

  /** Returns the next number that the guest prints. Guests count continuously. */
  async count(): Promise<number> {
    const lines = await this.lines(/^COUNT \d+$/);
    return Number(lines.at(-1)!.split(' ')[1]);
  }

  close(): void {
    this.#socket.destroy();
  }
}
