import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { isAcpiReady } from '../qmp/power-button.js';
import { QmpClient } from '../qmp/qmp-client.js';
import { endTpm, startTpm } from '../tpm/tpm-process.js';
import { machineArguments } from './machine-arguments.js';
import type { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';
import { endProcess, findProcess, startProcess } from './machine-process.js';
import type { MachineShape } from './machine-shape.js';

/** The program that runs machines, and the settings with which it is started. */
export interface MachineProgram {
  readonly program: string;
  readonly runAs: RunAs | undefined;
  readonly sandbox: boolean;
  /** Throws `HOST_FENCED` if machines must not run. */
  readonly checkRunning: () => void;
}

/** QEMU run states in which a machine exists but does not run. */
const STOPPED = new Set(['paused', 'suspended', 'prelaunch', 'inmigrate', 'postmigrate', 'io-error']);

type PowerState = Server['powerState'];
const RUNNING: PowerState = 1;
const OFF: PowerState = 4;
/** Power states by QEMU run state; in all others the machine runs. */
const POWER_STATES: Readonly<Record<string, PowerState>> = {
  paused: 3,
  // QEMU pauses a guest whose write has no space, and repeats the write when the guest continues.
  'io-error': 3,
  shutdown: OFF,
  'guest-panicked': 6,
};
/** Events after which the power state may have changed. */
const CHANGES: ReadonlySet<string> = new Set(['STOP', 'RESUME']);

/** Interval between presses of the power button: guests that are still booting ignore it. */
const PRESS_RETRY_MS = 3_000;

/** The machine of one server: a process that may be older than this one, and outlives it. */
export class Machine {
  readonly folder: MachineFolder;
  readonly #program: MachineProgram;
  readonly #onChange: () => void;
  #qmp: QmpClient | undefined;
  /** QEMU serves one connection at a time, so concurrent callers share one. */
  #connecting: Promise<QmpClient | undefined> | undefined;

  /** @param onChange called when the machine may have ended, or may have been paused or resumed, for any reason */
  constructor(folder: MachineFolder, program: MachineProgram, onChange: () => void = () => {}) {
    this.folder = folder;
    this.#program = program;
    this.#onChange = onChange;
  }

  /**
   * Returns the control connection of the machine, or undefined while it is off. Connects to a machine that runs
   * already.
   */
  async connectIfRunning(): Promise<QmpClient | undefined> {
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
          if (this.#qmp === qmp) this.#onChange();
        });
        qmp?.beforeCommand((command) => {
          if (command === 'cont') this.#checkRunning();
        });
        qmp?.onEvent(({ event }) => {
          if (event === 'RESUME') void this.folder.removeFiles('fenced');
          if (CHANGES.has(event)) this.#onChange();
        });
        return qmp;
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  /** Throws if the machine must not run. It then stays paused, and is resumed when the fence is lifted. */
  #checkRunning(): void {
    try {
      this.#program.checkRunning();
    } catch (error) {
      writeFile(this.folder.file('fenced'), '').catch(() => {});
      throw error;
    }
  }

  /** Like `connectIfRunning`, but rejects with `MACHINE_NOT_RUNNING` while the machine is off. */
  async qmp(): Promise<QmpClient> {
    const qmp = await this.connectIfRunning();
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine is not running');
    return qmp;
  }

  /** Starts the machine; no-op if it runs. @param incoming the layout of the machine whose memory this one waits for */
  async start(shape: MachineShape, signal: AbortSignal, incoming?: MachineLayout): Promise<QmpClient> {
    do {
      const running = await this.connectIfRunning();
      if (running) return running;
    } while (this.#connecting);
    const qmp = await this.#connect(() => this.#begin(shape, signal, incoming));
    if (!qmp) throw new QemuError('MACHINE_ENDED', 'the machine has ended');
    return qmp;
  }

  async #begin(shape: MachineShape, signal: AbortSignal, incoming: MachineLayout | undefined): Promise<QmpClient> {
    const { program, runAs, sandbox } = this.#program;
    const { tpm } = shape.tuning;
    const args = machineArguments(shape, this.folder, { incoming, sandbox });
    if (tpm) await startTpm(this.folder, tpm, runAs, incoming !== undefined, signal);
    try {
      return await startProcess(this.folder, program, args, runAs, signal);
    } catch (error) {
      await endTpm(this.folder);
      throw error;
    }
  }

  /** Returns the power state of the machine; null if QEMU does not respond, for example while it exits. */
  async powerState(): Promise<PowerState | null> {
    try {
      const qmp = await this.connectIfRunning();
      if (!qmp) return OFF;
      const { status } = await qmp.execute<{ status: string }>('query-status');
      return POWER_STATES[status] ?? RUNNING;
    } catch {
      return null;
    }
  }

  /** Returns true if the machine's processors are running; false while it is paused or off. */
  async isRunning(): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp) return false;
    const { status } = await qmp.execute<{ status: string }>('query-status');
    return !STOPPED.has(status);
  }

  /** Resumes a guest that is paused because a write had no space. Returns true if it was paused for this reason. */
  async resumeAfterFullDisk(): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp || (await qmp.execute<{ status: string }>('query-status')).status !== 'io-error') return false;
    await qmp.execute('cont');
    return true;
  }

  /** Powers the machine off without a shutdown of the guest. */
  async end(): Promise<void> {
    const qmp = await this.connectIfRunning().catch(() => undefined);
    // Data that QEMU has written may still be in transit to the disk.
    await qmp?.quit();
    this.#qmp?.close();
    this.#qmp = undefined;
    await endProcess(this.folder);
    await endTpm(this.folder);
  }

  /**
   * Shuts the guest down with the power button, pressed repeatedly. Does not wait for a guest without ACPI, for example
   * one that is still in its firmware.
   *
   * @returns false if the machine has not ended in time
   */
  async shutDown(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp) return true;
    const deadline = Date.now() + timeoutMs;
    // A paused guest does not notice the power button.
    if (!(await this.isRunning())) return false;
    const firmwareUntil = Date.now() + PRESS_RETRY_MS;
    while (qmp.isOpen && Date.now() < deadline) {
      if (Date.now() >= firmwareUntil && !(await isAcpiReady(qmp))) return false;
      await qmp.execute('system_powerdown').catch(() => {});
      const wait = AbortSignal.any([
        signal,
        AbortSignal.timeout(Math.min(PRESS_RETRY_MS, Math.max(0, deadline - Date.now()))),
      ]);
      await qmp.untilClosed(wait).catch(() => signal.throwIfAborted());
    }
    if (qmp.isOpen) return false;
    while ((await findProcess(this.folder)) !== undefined) await sleep(20, undefined, { signal });
    await this.end();
    return true;
  }

  /** Disconnects from the machine, which continues to run. */
  leave(): void {
    const qmp = this.#qmp;
    this.#qmp = undefined;
    qmp?.close();
  }
}
