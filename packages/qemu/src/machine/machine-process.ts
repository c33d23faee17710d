import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM_ENVIRONMENT, type RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { QmpClient } from '../qmp/qmp-client.js';

/** The files by which a process that outlives this one is found. */
export interface ProcessFiles {
  /** The folder in which it runs. */
  readonly path: string;
  file(name: 'pid' | 'errorLog'): string;
  /** Files that a killed process leaves behind, including its pid file. */
  readonly staleFiles: readonly string[];
}

/** The files of a QEMU program, which also has a control socket. */
export interface ProcessFolder extends ProcessFiles {
  file(name: 'pid' | 'qmp' | 'errorLog'): string;
}

/** A program that outlives this one. */
export interface DetachedProgram<T> {
  readonly program: string;
  readonly args: readonly string[];
  readonly runAs: RunAs | undefined;
  /** Returns a value when the program is ready, and undefined until then. */
  readonly ready: () => Promise<T | undefined>;
}

/** Maximum time until QEMU listens on its control socket; it reads no disk before that. */
const START_MS = 60_000;
const POLL_INTERVAL_MS = 20;

/** Returns true if the process belongs to a folder: process ids are reused. */
async function isProcessOf(folder: ProcessFiles, pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const file = folder.file('pid');
  return commandLine.split('\0').some((arg) => arg === file || arg === `file=${file}`);
}

/** Returns the running process of a folder, regardless of the process that started it, or undefined. */
export async function findProcess(folder: ProcessFiles): Promise<number | undefined> {
  const pid = Number(await readFile(folder.file('pid'), 'utf8').catch(() => ''));
  return pid > 0 && (await isProcessOf(folder, pid)) ? pid : undefined;
}

/** Kills the process of a folder, and waits for its exit. */
export async function endProcess(folder: ProcessFiles): Promise<void> {
  for (let signal: NodeJS.Signals | 0 = 'SIGKILL'; ; signal = 0) {
    const pid = await findProcess(folder);
    if (pid === undefined) break;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await sleep(POLL_INTERVAL_MS);
  }
  for (const path of folder.staleFiles) await rm(path, { force: true });
}

/** Returns the last line that the process wrote to standard error. */
async function lastErrorLine(folder: ProcessFiles): Promise<string | undefined> {
  const text = await readFile(folder.file('errorLog'), 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) || undefined;
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Starts the process of a folder in its own session, so that it outlives this one, and waits until it is ready. Rejects
 * with `MACHINE_ENDED` and the error of the process.
 */
export async function startProgram<T>(
  folder: ProcessFiles,
  { program, args, runAs, ready }: DetachedProgram<T>,
  signal: AbortSignal,
): Promise<T> {
  const messages = await open(folder.file('errorLog'), 'w', 0o600);
  let failure: Error | undefined;
  try {
    const child = spawn(program, [...args], {
      ...runAs,
      cwd: folder.path,
      detached: true,
      stdio: ['ignore', messages.fd, messages.fd],
      env: PROGRAM_ENVIRONMENT,
    });
    child.unref();
    child.once('error', (error) => {
      failure = error;
    });
    const deadline = Date.now() + START_MS;
    // A process exits immediately if another process, which runs already, has the lock.
    while (Date.now() < deadline && !failure && (!hasExited(child) || (await findProcess(folder)))) {
      signal.throwIfAborted();
      const result = await ready();
      if (result !== undefined) return result;
      await sleep(POLL_INTERVAL_MS);
    }
  } catch (error) {
    await endProcess(folder);
    throw error;
  } finally {
    await messages.close();
  }
  await endProcess(folder);
  const reason = failure?.message ?? (await lastErrorLine(folder)) ?? 'it does not respond';
  throw new QemuError('MACHINE_ENDED', `${basename(program)} cannot run: ${reason}`);
}

/**
 * Starts a QEMU program like `startProgram`, and connects to it. QEMU's programs lock their pid files, so a folder never
 * has two running processes.
 */
export function startProcess(
  folder: ProcessFolder,
  program: string,
  args: readonly string[],
  runAs: RunAs | undefined,
  signal: AbortSignal,
): Promise<QmpClient> {
  const ready = () => QmpClient.connect(folder.file('qmp')).catch(() => undefined);
  return startProgram(folder, { program, args, runAs, ready }, signal);
}
