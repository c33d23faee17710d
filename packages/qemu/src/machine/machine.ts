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
import { findProcess, killProcess, startQemuProcess } from './machine-process.js';
import type { MachineShape } from './machine-shape.js';

/** The QEMU program, and the settings with which it is started. */
export interface MachineProgram {
  readonly program: string;
  readonly runAs: RunAs | undefined;
  readonly sandbox: boolean;
  /** Throws `HOST_FENCED` if machines must not run on this host. */
  readonly checkRunning: () => void;
}

/** QEMU run states in which the process exists, but the guest does not run. */
const STOPPED_STATES = new Set(['paused', 'suspended', 'prelaunch', 'inmigrate', 'postmigrate', 'io-error']);

type PowerState = Server['powerState'];
const POWER_STATE_RUNNING: PowerState = 1;
const POWER_STATE_OFF: PowerState = 4;
/** Power states by QEMU run state. In all other run states, the machine is running. */
const POWER_STATES: Readonly<Record<string, PowerState>> = {
  paused: 3,
  // QEMU pauses a guest when the disk is full, and retries the failed write when the guest is resumed.
  'io-error': 3,
  shutdown: POWER_STATE_OFF,
  'guest-panicked': 6,
};
/** QEMU events that can change the power state. */
const STATE_CHANGE_EVENTS: ReadonlySet<string> = new Set(['STOP', 'RESUME']);

/** The interval between presses of the power button, which are repeated because booting guests ignore them. */
const PRESS_INTERVAL_MS = 3_000;

/**
 * A server's virtual machine: a QEMU process that outlives the host process, and that an earlier host process may have
 * started.
 */
export class Machine {
  readonly folder: MachineFolder;
  readonly #program: MachineProgram;
  readonly #onChange: () => void;
  #qmp: QmpClient | undefined;
  /**
   * The connection attempt in progress, which concurrent callers share, because QEMU serves one connection at a time.
   */
  #connecting: Promise<QmpClient | undefined> | undefined;

  /** @param onChange called when the machine may have ended, paused or resumed, for any reason */
  constructor(folder: MachineFolder, program: MachineProgram, onChange: () => void = () => {}) {
    this.folder = folder;
    this.#program = program;
    this.#onChange = onChange;
  }

  /**
   * Returns the control connection to the machine, after connecting if necessary; undefined while the machine is off.
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

  async #connect(openConnection: () => Promise<QmpClient | undefined>): Promise<QmpClient | undefined> {
    this.#connecting ??= openConnection()
      .then((qmp) => {
        this.#qmp = qmp;
        qmp?.onClosed(() => {
          if (this.#qmp === qmp) this.#onChange();
        });
        qmp?.setCommandCheck((command) => {
          if (command === 'cont') this.#checkRunning();
        });
        qmp?.onEvent(({ event }) => {
          if (event === 'RESUME') void this.folder.removeFiles('fenced');
          if (STATE_CHANGE_EVENTS.has(event)) this.#onChange();
        });
        return qmp;
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  /**
   * Throws if the machine must not run because its host is fenced. The machine then stays paused until fencing ends.
   */
  #checkRunning(): void {
    try {
      this.#program.checkRunning();
    } catch (error) {
      writeFile(this.folder.file('fenced'), '').catch(() => {});
      throw error;
    }
  }

  /** Returns the control connection to the machine. @throws QemuError `MACHINE_NOT_RUNNING` while the machine is off */
  async qmp(): Promise<QmpClient> {
    const qmp = await this.connectIfRunning();
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine is not running');
    return qmp;
  }

  /**
   * Starts the machine; no-op if it is running.
   * @param incoming the device layout of the machine whose memory this machine receives
   */
  async start(shape: MachineShape, signal: AbortSignal, incoming?: MachineLayout): Promise<QmpClient> {
    do {
      const runningQmp = await this.connectIfRunning();
      if (runningQmp) return runningQmp;
    } while (this.#connecting);
    const qmp = await this.#connect(() => this.#startQemu(shape, signal, incoming));
    if (!qmp) throw new QemuError('MACHINE_ENDED', 'the machine is no longer running');
    return qmp;
  }

  async #startQemu(shape: MachineShape, signal: AbortSignal, incoming: MachineLayout | undefined): Promise<QmpClient> {
    const { program, runAs, sandbox } = this.#program;
    const { tpm } = shape.tuning;
    const args = machineArguments(shape, this.folder, { incoming, sandbox });
    if (tpm) await startTpm(this.folder, tpm, runAs, incoming !== undefined, signal);
    try {
      return await startQemuProcess(this.folder, program, args, runAs, signal);
    } catch (error) {
      await endTpm(this.folder);
      throw error;
    }
  }

  /** Returns the machine's power state; null if QEMU does not respond, for example because it is exiting. */
  async powerState(): Promise<PowerState | null> {
    try {
      const qmp = await this.connectIfRunning();
      if (!qmp) return POWER_STATE_OFF;
      const { status } = await qmp.execute<{ status: string }>('query-status');
      return POWER_STATES[status] ?? POWER_STATE_RUNNING;
    } catch {
      return null;
    }
  }

  /** Returns true if the machine is running; false if it is paused or off. */
  async isRunning(): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp) return false;
    const { status } = await qmp.execute<{ status: string }>('query-status');
    return !STOPPED_STATES.has(status);
  }

  /** Resumes the guest if it is paused because the disk was full. Returns true if it was paused for this reason. */
  async resumeAfterFullDisk(): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp || (await qmp.execute<{ status: string }>('query-status')).status !== 'io-error') return false;
    await qmp.execute('cont');
    return true;
  }

  /** Powers the machine off without shutting down the guest. */
  async powerOff(): Promise<void> {
    const qmp = await this.connectIfRunning().catch(() => undefined);
    // QEMU must flush its pending writes before it is killed.
    await qmp?.quit();
    this.#qmp?.close();
    this.#qmp = undefined;
    await killProcess(this.folder);
    await endTpm(this.folder);
  }

  /**
   * Shuts down the guest by pressing the power button repeatedly. Gives up early if the guest has not enabled ACPI, for
   * example because it is still in its firmware.
   *
   * @returns false if the machine is still running
   */
  async shutDown(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const qmp = await this.connectIfRunning();
    if (!qmp) return true;
    const deadline = Date.now() + timeoutMs;
    // A paused guest does not react to the power button.
    if (!(await this.isRunning())) return false;
    const firmwareDeadline = Date.now() + PRESS_INTERVAL_MS;
    while (qmp.isOpen && Date.now() < deadline) {
      if (Date.now() >= firmwareDeadline && !(await isAcpiReady(qmp))) return false;
      await qmp.execute('system_powerdown').catch(() => {});
      const waitSignal = AbortSignal.any([
        signal,
        AbortSignal.timeout(Math.min(PRESS_INTERVAL_MS, Math.max(0, deadline - Date.now()))),
      ]);
      await qmp.waitUntilClosed(waitSignal).catch(() => signal.throwIfAborted());
    }
    if (qmp.isOpen) return false;
    while ((await findProcess(this.folder)) !== undefined) await sleep(20, undefined, { signal });
    await this.powerOff();
    return true;
  }

  /** Closes the control connection. The machine continues to run. */
  disconnect(): void {
    const qmp = this.#qmp;
    this.#qmp = undefined;
    qmp?.close();
  }
}
