import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { eventually } from '../../../testing/eventually.js';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const loadMain = () => import('../src/main.js');

/** The reference server as a separate process. */
export interface Program {
  readonly url: string;
  readonly pid: number;
  readonly output: () => string;
  /** Waits until the program's output matches a pattern, and returns the match. */
  readonly printed: (sign: RegExp) => Promise<RegExpExecArray>;
  /** Sends a signal and waits until the program ends. Returns the exit code, or null if a signal ended the program. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}

// A failed test must not leave a server running.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Resolves when a process has ended and all its output has been read. */
function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code)));
}

/**
 * Returns the command that runs a program, for example in a user namespace. The command must replace itself with the
 * program (`exec`).
 */
export type WrapCommand = (program: string, args: readonly string[]) => readonly [string, readonly string[]];

const runDirectly: WrapCommand = (program, args) => [program, args];

/** Starts the program and waits until it listens; rejects with its output if the program ends before that. */
export async function startProgram(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  wrapCommand = runDirectly,
): Promise<Program> {
  const started = ['--port', '0', '--drain-ms', '0', ...args];
  const { found: url, ...program } = await startUntil(
    /Compute API (http:\S+)\/v2\.1/,
    started,
    environment,
    wrapCommand,
  );
  return { ...program, url };
}

/** Returns the process ids of the workers that have reported that they serve, in order. */
export function workersOf(program: Program): number[] {
  return [...program.output().matchAll(/"worker":(\d+),"msg":"a worker accepts connections"/g)].map(([, pid]) =>
    Number(pid),
  );
}

/** Starts a host and waits until it is up; rejects with its output if the program ends before that. */
export async function startHost(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  wrapCommand = runDirectly,
): Promise<Omit<Program, 'url'>> {
  return startUntil(/Host (\S+) is up/, ['host', ...args], environment, wrapCommand);
}

async function startUntil(
  sign: RegExp,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  wrapCommand: WrapCommand,
): Promise<Omit<Program, 'url'> & { readonly found: string }> {
  const [program, all] = wrapCommand(process.execPath, [await bundledProgram(MAIN, loadMain), ...args]);
  const child = spawn(program, all, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const end = endOf(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  const reported = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const found = sign.exec(output);
      if (found) resolve(found[1]!);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    void end.then((code) => reject(new Error(`the program ended with ${code}: ${output}`)));
  });
  return {
    found: reported,
    pid: child.pid!,
    output: () => output,
    printed: (sign) =>
      eventually(() => {
        const found = sign.exec(output);
        if (!found) throw new Error(`the program did not print ${sign}: ${output}`);
        return found;
      }),
    end: (signal) => {
      child.kill(signal);
      return end;
    },
  };
}

/** Runs the program until it ends, for invocations that are expected to fail. */
export async function runProgram(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  wrapCommand = runDirectly,
): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, ...environment };
  const [program, all] = wrapCommand(process.execPath, [await bundledProgram(MAIN, loadMain), ...args]);
  const child = spawn(program, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    output += chunk;
  });
  const code = await endOf(child);
  return { code, output };
}

/** Sends a JSON request to the program. */
export async function sendRequest(
  url: string,
  method: string,
  path: string,
  options: { readonly version?: string; readonly token?: string; readonly body?: unknown } = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'X-Auth-Token': options.token ?? 'ada:demo',
      'Content-Type': 'application/json',
      ...(options.version && { 'OpenStack-API-Version': `compute ${options.version}` }),
    },
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}
