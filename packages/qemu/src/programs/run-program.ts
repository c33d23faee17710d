import { execFile } from 'node:child_process';
import { QemuError } from '../qemu-error.js';

/** User and group that run a program. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface ProgramOptions {
  readonly runAs: RunAs | undefined;
  readonly signal?: AbortSignal;
  /** Milliseconds after which the program is killed; default: ten minutes. */
  readonly timeoutMs?: number;
  /** The program's standard input; default: empty. */
  readonly input?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const MAX_ERROR_LENGTH = 1_000;
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;

/** The environment of all programs. This process's own variables are omitted, because they may contain secrets. */
export const PROGRAM_ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };

/**
 * Runs a program without a shell, and returns its standard output. If the program fails, rejects with `PROGRAM_FAILED`
 * and the error output.
 */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { runAs, signal, timeoutMs = DEFAULT_TIMEOUT_MS, input } = options;
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
        const errorOutput = stderr.trim().replaceAll('\n', '; ').slice(0, MAX_ERROR_LENGTH);
        reject(
          new QemuError(
            'PROGRAM_FAILED',
            `${program}: ${errorOutput || (error.killed ? 'did not exit in time' : error.message)}`,
          ),
        );
      },
    );
    // A program that exits before it has read all input reports the reason itself.
    child.stdin?.on('error', () => {});
    if (input !== undefined) child.stdin?.end(input);
  });
}
