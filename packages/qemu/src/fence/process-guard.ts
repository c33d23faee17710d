import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { bootTime, type FenceAction, type FenceGuard, type FenceOrder } from '@apistrata/compute-engine/drivers';
import { ifMissing } from '../machine/if-missing.js';
import { killProcess, type ProcessFiles, startDetached } from '../machine/machine-process.js';
import { QemuError } from '../qemu-error.js';
import { fenceMachines } from './fence-machines.js';
import { type GuardArguments, type GuardRequest, runGuard } from './run-guard.js';

const START_TIMEOUT_MS = 20_000;
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Returns the files of a fence guard. Each guard has its own folder, because an old guard runs until its replacement is
 * ready.
 */
function filesOf(path: string): ProcessFiles & { readonly socket: string } {
  const file = (name: 'pid' | 'errorLog') => join(path, name === 'pid' ? 'pid' : 'log');
  return { path, file, staleFiles: [file('pid'), join(path, 'socket')], socket: join(path, 'socket') };
}

export interface ProcessGuardOptions {
  /** The directory that contains the host's machines. */
  readonly directory: string;
  readonly log: (line: string) => void;
}

/**
 * A host's fence guard: a process that runs in a separate session and outlives the host process. Requests run
 * sequentially.
 */
export class ProcessGuard implements FenceGuard {
  readonly #options: ProcessGuardOptions;
  readonly #folder: string;
  readonly #machines: string;
  #currentGuard: { readonly name: string; readonly connection: Socket; readonly order: FenceOrder } | undefined;
  /** The number of characters of each guard's log that were already reported. */
  readonly #reportedLengths = new Map<string, number>();
  #previousRequest: Promise<unknown> = Promise.resolve();
  #fenceAt = Number.POSITIVE_INFINITY;
  #isEnded = false;

  constructor(options: ProcessGuardOptions) {
    this.#options = options;
    this.#folder = join(options.directory, 'guard');
    this.#machines = join(options.directory, 'machines');
  }

  /** Checks that machines may run. @throws QemuError `HOST_FENCED` if the guard may have fenced this host's machines */
  checkRunning(): void {
    if (bootTime() >= this.#fenceAt)
      throw new QemuError('HOST_FENCED', 'the host did not store a heartbeat in time; its machines must not run');
  }

  /** Fences the host's machines from this process. Returns the ids of the servers whose machines were running. */
  async fence(action: FenceAction, withinMs: number): Promise<readonly string[]> {
    return (await fenceMachines(this.#machines, action, withinMs)).fenced;
  }

  ensureRunning(order: FenceOrder): Promise<void> {
    if (this.#fenceAt === Number.POSITIVE_INFINITY) this.#fenceAt = order.at;
    return this.#enqueue(async () => {
      const { connection } = this.#currentGuard ?? {};
      if (connection && !connection.destroyed) {
        try {
          return await this.#request(connection, {}, RESPONSE_TIMEOUT_MS);
        } catch (error) {
          this.#options.log(`the fence guard is not responding and is being replaced: ${(error as Error).message}`);
        }
      }
      await this.#start(order);
    });
  }

  renew(order: FenceOrder): Promise<void> {
    this.#fenceAt = order.at;
    return this.#enqueue(async () => {
      const { connection, name } = this.#currentGuard ?? {};
      if (!connection) throw new QemuError('PROGRAM_FAILED', 'the fence guard is not running');
      await this.#request(connection, { at: order.at }, order.withinMs + RESPONSE_TIMEOUT_MS);
      await this.#report(name ?? '');
      await this.#endAllExcept(name);
    });
  }

  async listPaused(): Promise<readonly string[]> {
    const ids = await readdir(this.#machines);
    return ids.filter((id) => existsSync(join(this.#machines, id, 'fenced')));
  }

  end(): Promise<void> {
    this.#fenceAt = Number.POSITIVE_INFINITY;
    return this.#enqueue(async () => {
      this.disconnect();
      await this.#endAllExcept(undefined);
    });
  }

  /** Disconnects from the fence guard, which continues to run. */
  disconnect(): void {
    this.#isEnded = true;
    this.#currentGuard?.connection.destroy();
    this.#currentGuard = undefined;
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#previousRequest.then(work);
    this.#previousRequest = result.catch(() => {});
    return result;
  }

  async #start(order: FenceOrder): Promise<void> {
    this.#currentGuard?.connection.destroy();
    this.#currentGuard = undefined;
    this.#isEnded = false;
    const name = randomBytes(4).toString('hex');
    const files = filesOf(join(this.#folder, name));
    await mkdir(files.path, { recursive: true, mode: 0o700 });
    const guardArguments: GuardArguments = { ...order, folder: this.#machines, socket: files.socket };
    const connectWhenReady = async () => {
      if (!existsSync(files.file('pid'))) return undefined;
      const socket = connect(files.socket);
      await once(socket, 'connect');
      return socket;
    };
    const connection = await startDetached(
      files,
      {
        program: process.execPath,
        args: ['-e', `(${runGuard})(${fenceMachines})`, files.file('pid'), JSON.stringify(guardArguments)],
        runAs: undefined,
        ready: () => connectWhenReady().catch(() => undefined),
      },
      AbortSignal.timeout(START_TIMEOUT_MS),
    );
    // The connection to the guard must not keep the host process alive.
    connection.unref().on('error', () => {});
    this.#currentGuard = { name, connection, order };
    connection.once('close', () => this.#restart(connection));
  }

  /**
   * Replaces a fence guard that has ended. If that fails, the next `ensureRunning()` retries. Does nothing after the
   * fencing deadline, because the guard may then have been ended by the host process that replaces this one.
   */
  #restart(connection: Socket): void {
    const currentGuard = this.#currentGuard;
    if (this.#isEnded || currentGuard?.connection !== connection || bootTime() >= this.#fenceAt) return;
    this.#options.log('the fence guard has ended and is being restarted');
    this.#enqueue(async () => {
      if (this.#currentGuard === currentGuard) await this.#start({ ...currentGuard.order, at: this.#fenceAt });
    }).catch((error) => this.#options.log(`the fence guard cannot be started: ${error.message}`));
  }

  #request(connection: Socket, request: GuardRequest, timeoutMs: number): Promise<void> {
    const timeoutSignal = AbortSignal.timeout(timeoutMs);
    return new Promise((resolve, reject) => {
      const finish = (end: () => void) => {
        timeoutSignal.removeEventListener('abort', onTimeout);
        connection.off('data', onData).off('close', onClose);
        end();
      };
      const fail = (reason: string) =>
        finish(() => reject(new QemuError('PROGRAM_FAILED', `the fence guard ${reason}`)));
      const onData = () => finish(resolve);
      const onClose = () => fail('has ended');
      const onTimeout = () => {
        connection.destroy();
        fail('does not respond');
      };
      if (connection.destroyed) return fail('has ended');
      connection.once('data', onData).once('close', onClose);
      timeoutSignal.addEventListener('abort', onTimeout, { once: true });
      connection.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** Logs what a fence guard has done since the last report. */
  async #report(name: string): Promise<void> {
    const logText = await ifMissing(readFile(filesOf(join(this.#folder, name)).file('errorLog'), 'utf8'), '');
    const lines = logText.slice(this.#reportedLengths.get(name) ?? 0).split('\n');
    for (const line of lines.filter(Boolean)) this.#options.log(`the fence guard reports: ${line}`);
    this.#reportedLengths.set(name, logText.length);
  }

  /** Ends all other fence guards of this host, including guards that other processes started. */
  async #endAllExcept(currentGuard: string | undefined): Promise<void> {
    const names = await ifMissing(readdir(this.#folder), []);
    for (const name of names.filter((name) => name !== currentGuard)) {
      const files = filesOf(join(this.#folder, name));
      await killProcess(files);
      await this.#report(name);
      this.#reportedLengths.delete(name);
      await rm(files.path, { recursive: true, force: true });
    }
  }
}
