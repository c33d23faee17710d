import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { hearsPowerButton } from '../qmp/power-button.js';
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

type PowerState = Server['powerState'];
const RUNNING: PowerState = 1;
const OFF: PowerState = 4;
/** Power states by those of QEMU; in all others the machine runs. */
const POWER_STATES: Readonly<Record<string, PowerState>> = { paused: 3, shutdown: OFF, 'guest-panicked': 6 };

/** How often the power button is pressed again: guests that are still booting do not feel it. */
const PRESS_AGAIN_MS = 3_000;

/** The machine of one server: a process that was here before us, or is begun by us, and goes on without us. */
export class Machine {
  readonly folder: MachineFolder;
  readonly #program: MachineProgram;
  readonly #onEnd: () => void;
  #qmp: QmpClient | undefined;
  /** QEMU serves one connection at a time, so two callers share one that is being opened. */
  #connecting: Promise<QmpClient | undefined> | undefined;

  /** @param onEnd called when the machine may have ended, by itself or not */
  constructor(folder: MachineFolder, program: MachineProgram, onEnd: () => void = () => {}) {
    this.folder = folder;
    this.#program = program;
    this.#onEnd = onEnd;
  }

  /** The way to tell the machine something; undefined while it is off. A machine that runs already is taken over. */
  async running(): Promise<QmpClient | undefined> {
    if (this.#qmp?.isOpen) return this.#qmp;
    return this.#connect(async () => {
      if ((await findProcess(this.folder)) === undefined) return undefined;
      return QmpClient.connect(this.folder.file('qmp')).catch(async (error) => {
        if ((await findProcess(this.folder)) === undefined) return undefined;
        throw error;
      });
    });
  }

  async #connect(open: () => Promise<QmpClient | undefined>): Promise<QmpClient | undefined> {
    this.#connecting ??= open()
      .then((qmp) => {
        this.#qmp = qmp;
        qmp?.onClosed(() => {
          if (this.#qmp === qmp) this.#onEnd();
        });
        return qmp;
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  /** The same for work that makes no sense while the machine is off. Throws `MACHINE_NOT_RUNNING`. */
  async qmp(): Promise<QmpClient> {
    const qmp = await this.running();
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine does not run');
    return qmp;
  }

  /** Runs the machine, unless it runs. @param incoming it waits for a memory, and is put together as the machine was that had it */
  async start(shape: MachineShape, signal: AbortSignal, incoming?: MachineLayout): Promise<QmpClient> {
    do {
      const running = await this.running();
      if (running) return running;
    } while (this.#connecting);
    const { program, runAs, sandbox } = this.#program;
    const args = machineArguments(shape, this.folder, { incoming, sandbox });
    const qmp = await this.#connect(() => startProcess(this.folder, program, args, runAs, signal));
    if (!qmp) throw new QemuError('MACHINE_ENDED', 'the machine has ended');
    return qmp;
  }

  /** Returns its power state; null where QEMU does not answer, as while it is ending. */
  async powerState(): Promise<PowerState | null> {
    try {
      const qmp = await this.running();
      if (!qmp) return OFF;
      const { status } = await qmp.execute<{ status: string }>('query-status');
      return POWER_STATES[status] ?? RUNNING;
    } catch {
      return null;
    }
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
   * Has the guest end by itself: by the power button, pressed again from time to time. A guest without ACPI, such as one that is
   * still in its firmware, is not waited for.
   * @returns false when it has not ended in time
   */
  async shutDown(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const qmp = await this.running();
    if (!qmp) return true;
    const deadline = Date.now() + timeoutMs;
    // A guest that does not run feels nothing.
    if (!(await this.isGoing())) return false;
    const firmwareUntil = Date.now() + PRESS_AGAIN_MS;
    while (qmp.isOpen && Date.now() < deadline) {
      if (Date.now() >= firmwareUntil && !(await hearsPowerButton(qmp))) return false;
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
    const qmp = this.#qmp;
    this.#qmp = undefined;
    qmp?.close();
  }
}
