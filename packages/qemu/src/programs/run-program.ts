import { execFile } from 'node:child_process';
import { QemuError } from '../qemu-error.js';

/** User and group that a program runs as; left out: those of this process. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface ProgramOptions {
  readonly runAs: RunAs | undefined;
  readonly signal?: AbortSignal;
  /** Milliseconds until it is killed; default: ten minutes. */
  readonly timeoutMs?: number;
  /** What it reads on its standard input; default: nothing. */
  readonly input?: string | undefined;
}

const TEN_MINUTES_MS = 600_000;
const MAX_COMPLAINT = 1_000;
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;

/** What a program needs of the environment: nothing of the secrets that ours may hold. */
export const PROGRAM_ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };

/** Runs a program to its end, without a shell, and gives what it printed. Throws `PROGRAM_FAILED` with what it complained of. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { runAs, signal, timeoutMs = TEN_MINUTES_MS, input } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      {
        ...runAs,
        signal,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_OUTPUT_BYTES,
        env: PROGRAM_ENVIRONMENT,
        encoding: 'utf8',
      },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        if (signal?.aborted) return reject(signal.reason);
        const said = stderr.trim().replaceAll('\n', '; ').slice(0, MAX_COMPLAINT);
        reject(
          new QemuError('PROGRAM_FAILED', `${program}: ${said || (error.killed ? 'took too long' : error.message)}`),
        );
      },
    );
    // One that ends before it has read all says why by itself.
    child.stdin?.on('error', () => {});
    if (input !== undefined) child.stdin?.end(input);
  });
}
