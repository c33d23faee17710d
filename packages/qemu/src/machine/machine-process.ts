import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM_ENVIRONMENT, type RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { QmpClient } from '../qmp/qmp-client.js';

/** Where a process that outlives this one keeps what it is found by. */
export interface ProcessFolder {
  readonly path: string;
  file(name: 'pid' | 'qmp' | 'complaints'): string;
  /** What a process that was killed leaves behind, its pid file among it. */
  readonly leftovers: readonly string[];
}

/** How long QEMU may take until it listens on its control socket: it reads no disk before that. */
const START_MS = 60_000;
const LOOK_MS = 20;

/** Whether a process is that of a folder: numbers are given to other processes, too. */
async function isProcessOf(folder: ProcessFolder, pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.split('\0').includes(folder.file('pid'));
}

/** The process of a folder that runs, whoever has started it; undefined where there is none. */
export async function findProcess(folder: ProcessFolder): Promise<number | undefined> {
  const pid = Number(await readFile(folder.file('pid'), 'utf8').catch(() => ''));
  return pid > 0 && (await isProcessOf(folder, pid)) ? pid : undefined;
}

/** Ends the process of a folder at once, and waits until it is gone. */
export async function endProcess(folder: ProcessFolder): Promise<void> {
  for (let signal: NodeJS.Signals | 0 = 'SIGKILL'; ; signal = 0) {
    const pid = await findProcess(folder);
    if (pid === undefined) break;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await sleep(LOOK_MS);
  }
  for (const path of folder.leftovers) await rm(path, { force: true });
}

/** What the process complained of last. */
async function lastComplaint(folder: ProcessFolder): Promise<string | undefined> {
  const text = await readFile(folder.file('complaints'), 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) || undefined;
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Starts the process of a folder, in a session of its own so that it outlives this one, and connects to it. QEMU's programs lock
 * their pid files, so there are never two for one folder. Throws `MACHINE_ENDED` with what it complained of.
 */
export async function startProcess(
  folder: ProcessFolder,
  program: string,
  args: readonly string[],
  runAs: RunAs | undefined,
  signal: AbortSignal,
): Promise<QmpClient> {
  const complaints = await open(folder.file('complaints'), 'w', 0o600);
  let failure: Error | undefined;
  try {
    const child = spawn(program, [...args], {
      ...runAs,
      cwd: folder.path,
      detached: true,
      stdio: ['ignore', complaints.fd, complaints.fd],
      env: PROGRAM_ENVIRONMENT,
    });
    child.unref();
    child.once('error', (error) => {
      failure = error;
    });
    const deadline = Date.now() + START_MS;
    // One that ended at once may have found another process that has the lock: it runs already.
    while (Date.now() < deadline && !failure && (!ended(child) || (await findProcess(folder)))) {
      signal.throwIfAborted();
      const client = await QmpClient.connect(folder.file('qmp')).catch(() => undefined);
      if (client) return client;
      await sleep(LOOK_MS);
    }
  } catch (error) {
    await endProcess(folder);
    throw error;
  } finally {
    await complaints.close();
  }
  await endProcess(folder);
  const why = failure?.message ?? (await lastComplaint(folder)) ?? 'it does not answer';
  throw new QemuError('MACHINE_ENDED', `QEMU cannot run: ${why}`);
}
