import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM_ENVIRONMENT, type RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { QmpClient } from '../qmp/qmp-client.js';

/** The files of a detached process, by which later processes find it. */
export interface ProcessFiles {
  /** The working directory of the process. */
  readonly path: string;
  file(name: 'pid' | 'errorLog'): string;
  /** The files that the process leaves behind when it is killed, including the pid file. */
  readonly staleFiles: readonly string[];
}

/** The files of a detached QEMU program, which also has a control socket. */
export interface ProcessFolder extends ProcessFiles {
  file(name: 'pid' | 'qmp' | 'errorLog'): string;
}

/** A program to run as a detached process, which outlives the current process. */
export interface DetachedProgram<T> {
  readonly program: string;
  readonly args: readonly string[];
  readonly runAs: RunAs | undefined;
  /** Returns undefined until the program is ready, and then the result of starting it. */
  readonly ready: () => Promise<T | undefined>;
}

/** The maximum time until a program is ready. QEMU is ready before it reads any disk, so slow disks do not matter. */
const START_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 20;

/** Returns true if a process belongs to a folder. Process ids are reused, so this checks the command line. */
async function isProcessOf(folder: ProcessFiles, pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const file = folder.file('pid');
  return commandLine.split('\0').some((arg) => arg === file || arg === `file=${file}`);
}

/** Returns the id of a folder's running process, no matter which process started it; undefined if there is none. */
export async function findProcess(folder: ProcessFiles): Promise<number | undefined> {
  const pid = Number(await readFile(folder.file('pid'), 'utf8').catch(() => ''));
  return pid > 0 && (await isProcessOf(folder, pid)) ? pid : undefined;
}

/** Kills a folder's process, waits until it has exited, and removes its stale files. */
export async function killProcess(folder: ProcessFiles): Promise<void> {
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

/** Returns the last line that a folder's process wrote to its error log. */
async function readLastErrorLine(folder: ProcessFiles): Promise<string | undefined> {
  const text = await readFile(folder.file('errorLog'), 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) || undefined;
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Starts a program in its own session, so that its process outlives the current one, and waits until it is ready.
 * Rejects with `MACHINE_ENDED` and the program's error message.
 */
export async function startDetached<T>(
  folder: ProcessFiles,
  { program, args, runAs, ready }: DetachedProgram<T>,
  signal: AbortSignal,
): Promise<T> {
  const errorLogFile = await open(folder.file('errorLog'), 'w', 0o600);
  let failure: Error | undefined;
  try {
    const child = spawn(program, [...args], {
      ...runAs,
      cwd: folder.path,
      detached: true,
      stdio: ['ignore', errorLogFile.fd, errorLogFile.fd],
      env: PROGRAM_ENVIRONMENT,
    });
    child.unref();
    child.once('error', (error) => {
      failure = error;
    });
    const deadline = Date.now() + START_TIMEOUT_MS;
    // The child exits immediately if the folder already has a running process, which holds the lock on the pid file.
    while (Date.now() < deadline && !failure && (!hasExited(child) || (await findProcess(folder)))) {
      signal.throwIfAborted();
      const result = await ready();
      if (result !== undefined) return result;
      await sleep(POLL_INTERVAL_MS);
    }
  } catch (error) {
    await killProcess(folder);
    throw error;
  } finally {
    await errorLogFile.close();
  }
  await killProcess(folder);
  const reason = failure?.message ?? (await readLastErrorLine(folder)) ?? 'the program does not respond';
  throw new QemuError('MACHINE_ENDED', `${basename(program)} cannot run: ${reason}`);
}

/**
 * Starts a detached QEMU program and connects to its control socket. QEMU programs lock their pid files, so that a
 * folder never has two running processes.
 */
export function startQemuProcess(
  folder: ProcessFolder,
  program: string,
  args: readonly string[],
  runAs: RunAs | undefined,
  signal: AbortSignal,
): Promise<QmpClient> {
  const ready = () => QmpClient.connect(folder.file('qmp')).catch(() => undefined);
  return startDetached(folder, { program, args, runAs, ready }, signal);
}
