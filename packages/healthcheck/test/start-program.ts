import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { eventually } from '../../../testing/eventually.js';
import { freePort } from '../../../testing/servers.js';
import { type ReceivedResponse, requestFrom, type SendRequest } from './serve.js';

/** A process of a test. */
export interface Program {
  readonly child: ChildProcess;
  /** All output so far. */
  output(): string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts a program of this folder, which is killed when the test ends. */
export async function startProgram(file: string, env: Readonly<Record<string, string>> = {}): Promise<Program> {
  const program = await bundledProgram(join(import.meta.dirname, file));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, output: () => text, ended: once(child, 'exit').then(([code]) => code) };
}

/** Starts a program that serves on the port in `PORT`, and waits until it accepts connections. */
export async function startServer(file: string, env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const request = (path: string, options?: SendRequest): Promise<ReceivedResponse> =>
    requestFrom('127.0.0.1', port, path, options);
  const program = await startProgram(file, { ...env, PORT: String(port) });
  await eventually(() => request('/'));
  return { ...program, port, request };
}
