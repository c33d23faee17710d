import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Computer } from './computer.js';

/** A capture of a network device's packets. */
export class Capture {
  readonly #file: string;
  readonly #program: ChildProcess;

  private constructor(computer: Computer, device: string, file: string) {
    this.#file = file;
    const options = ['-i', device, '-Z', 'root', '-s', '0', '-U', '--immediate-mode', '-w', file];
    this.#program = spawn(...computer.enter('tcpdump', options), { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  /** Starts a capture. Resolves once packets are being captured. */
  static async start(computer: Computer, device: string, file: string): Promise<Capture> {
    const capture = new Capture(computer, device, file);
    const program = capture.#program;
    await new Promise<void>((resolve, reject) => {
      // The output is read to its end, because a closed stream would end the program.
      program.stderr!.setEncoding('utf8').on('data', (text: string) => text.includes('listening on') && resolve());
      program.once('exit', () => reject(new Error(`packets of ${device} cannot be captured`)));
    });
    return capture;
  }

  /** Ends the capture. */
  async stop(): Promise<void> {
    const ended = once(this.#program, 'exit');
    this.#program.kill('SIGINT');
    await ended;
  }

  /** Returns the number of captured packets that match a filter. */
  count(filter: string): number {
    const lines = execFileSync('tcpdump', ['-r', this.#file, '-nn', filter], { encoding: 'utf8', stdio: 'pipe' });
    return lines.split('\n').filter(Boolean).length;
  }

  /** Returns whether a captured packet contains an IPv4 header with these addresses, at any position. */
  shows(from: string, to: string): boolean {
    const bytes = [from, to].flatMap((address) => address.split('.').map(Number));
    return readFileSync(this.#file).includes(Buffer.from(bytes));
  }
}
