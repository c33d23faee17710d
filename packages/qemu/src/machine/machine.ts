import { setTimeout as sleep } from 'node:timers/promises';
import type { RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { QmpClient } from '../qmp/qmp-client.js';
import { machineArguments } from './machine-arguments.js';
import type { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';
import { endProcess, findProcess, startProcess } from './machine-process.js';
import type { MachineShape } from './machine-shape.js';

/** How machines of this host are run. */
export interface MachineProgram {
  readonly program: string;
  readonly runAs: RunAs | undefined;
  readonly sandbox: boolean;
}

/** States of QEMU in which a machine is there and does not run. */
const STOPPED = new Set(['paused', 'suspended', 'prelaunch', 'inmigrate', 'postmigrate']);

/** How often the power button is pressed again: guests that are still booting do not feel it. */
const PRESS_AGAIN_MS = 3_000;

/** The machine of one server: a process that was here before us, or is begun by us, and goes on without us. */
export class Machine {
  readonly folder: MachineFolder;
  readonly #program: MachineProgram;
  #qmp: QmpClient | undefined;

  constructor(folder: MachineFolder, program: MachineProgram) {
    this.folder = folder;
    this.#program = program;
  }

  /** The way to tell the machine something; undefined while it is off. A machine that runs already is taken over. */
  async running(): Promise<QmpClient | undefined> {
    if (this.#qmp?.isOpen) return this.#qmp;
    this.#qmp = undefined;
    if ((await findProcess(this.folder)) === undefined) return undefined;
    this.#qmp = await QmpClient.connect(this.folder.file('qmp')).catch(async (error) => {
      if ((await findProcess(this.folder)) === undefined) return undefined;
      throw error;
    });
    return this.#qmp;
  }

  /** The same for work that makes no sense while the machine is off. Throws `MACHINE_NOT_RUNNING`. */
  async qmp(): Promise<QmpClient> {
    const qmp = await this.running();
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine does not run');
    return qmp;
  }

  /** Runs the machine, unless it runs. @param incoming it waits for a memory, and is put together as the machine was that had it */
  async start(shape: MachineShape, signal: AbortSignal, incoming?: MachineLayout): Promise<QmpClient> {
    const running = await this.running();
    if (running) return running;
    const { program, runAs, sandbox } = this.#program;
    const args = machineArguments(shape, this.folder, { incoming, sandbox });
    this.#qmp = await startProcess(this.folder, program, args, runAs, signal);
    return this.#qmp;
  }

  /** Whether its processors run; false also while it is off. */
  async isGoing(): Promise<boolean> {
    const qmp = await this.running();
    if (!qmp) return false;
    const { status } = await qmp.execute<{ status: string }>('query-status');
    return !STOPPED.has(status);
  }

  /** Ends it at once, as when the plug is pulled. */
  async end(): Promise<void> {
    const qmp = await this.running().catch(() => undefined);
    // What it has written may be on its way to the disk.
    await qmp?.quit();
    this.#qmp?.close();
    this.#qmp = undefined;
    await endProcess(this.folder);
  }

  /**
   * Has the guest end by itself: by the power button, pressed again from time to time.
   * @returns false when it has not ended in time
   */
  async shutDown(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const qmp = await this.running();
    if (!qmp) return true;
    const deadline = Date.now() + timeoutMs;
    // A guest that does not run feels nothing.
    if (!(await this.isGoing())) return false;
    while (qmp.isOpen && Date.now() < deadline) {
      await qmp.execute('system_powerdown').catch(() => {});
      const wait = AbortSignal.any([
        signal,
        AbortSignal.timeout(Math.min(PRESS_AGAIN_MS, Math.max(0, deadline - Date.now()))),
      ]);
      await qmp.untilClosed(wait).catch(() => signal.throwIfAborted());
    }
    if (qmp.isOpen) return false;
    while ((await findProcess(this.folder)) !== undefined) await sleep(20, undefined, { signal });
    await this.end();
    return true;
  }

  /** Lets go of the machine, which goes on. */
  leave(): void {
    this.#qmp?.close();
    this.#qmp = undefined;
  }
}
