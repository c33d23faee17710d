import type { Store } from '@apistrata/record-store';
import type { FenceAction, FenceGuard, FenceOrder } from '../drivers/fence-guard.js';
import type { Machines } from '../drivers/machines.js';
import { tables } from '../schema/tables.js';

/**
 * The time after which a host without heartbeats fences its machines, as a fraction of the time after which it counts
 * as down. The fence must complete in the remaining time.
 */
export const SILENCE_FRACTION = 2 / 3;
/**
 * The time after which machines that do not respond to the fence are killed, as a fraction of the time after which the
 * host counts as down.
 */
const RESPONSE_FRACTION = 1 / 6;

/** Dependencies and options of a fence. */
export interface MachineFenceOptions {
  readonly host: string;
  /**
   * What the fence does to machines. `off`: machines are not fenced, and those that an earlier process has paused are
   * resumed.
   */
  readonly action: FenceAction | 'off';
  /** The time without a heartbeat after which other processes consider this host down. */
  readonly downMs: number;
  readonly store: Store;
  readonly machines: Machines;
  /** Stops or pauses all machines. Returns the ids of their servers. */
  readonly fence: (action: FenceAction, withinMs: number) => Promise<readonly string[]>;
  /** A process that fences the machines if this process cannot; undefined if the machines end with this process. */
  readonly guard: FenceGuard | undefined;
  readonly onError: (error: unknown) => void;
}

const UNPAUSE_ORIGIN = { action: 'unpause', requestId: 'req-host' } as const;

/**
 * Stops or pauses the machines of a host while it cannot store heartbeats, so that their servers may start elsewhere.
 */
export class MachineFence {
  readonly #options: MachineFenceOptions;
  /** Ids of the servers whose machines were paused. */
  readonly #paused = new Set<string>();
  #engaging: Promise<void> = Promise.resolve();
  #isEngaged = false;
  #count = 0;

  constructor(options: MachineFenceOptions) {
    this.#options = options;
  }

  /** Whether the machines are currently fenced, and how often they have been fenced so far. */
  get state(): { readonly engaged: boolean; readonly count: number } {
    return { engaged: this.#isEngaged, count: this.#count };
  }

  #createOrder(action: FenceAction, heartbeatAt: number): FenceOrder {
    const { downMs } = this.#options;
    return { action, at: heartbeatAt + downMs * SILENCE_FRACTION, withinMs: downMs * RESPONSE_FRACTION };
  }

  /**
   * Starts the guard if it is not running. Returns whether the machines will be fenced even if this process has ended.
   * @param heartbeatAt the `bootTime()` of the last heartbeat
   */
  async ensureGuard(heartbeatAt: number): Promise<boolean> {
    const { action, guard, onError } = this.#options;
    if (action === 'off') return false;
    try {
      await guard?.ensureRunning(this.#createOrder(action, heartbeatAt));
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /**
   * Notifies the guard of a heartbeat. If that fails, the guard acts too early, and the next `ensureGuard()` replaces
   * it.
   */
  async renew(heartbeatAt: number): Promise<void> {
    const { action, guard, onError } = this.#options;
    await (action === 'off' ? guard?.end() : guard?.renew(this.#createOrder(action, heartbeatAt)))?.catch(onError);
  }

  /** Ends the guard, so that the machines continue to run without a fence. */
  async end(): Promise<void> {
    await this.#options.guard?.end();
  }

  /**
   * Stops or pauses the running machines, unless there is a guard that does so. Called repeatedly until `lift()`,
   * because work in progress may start more machines.
   */
  async engage(heartbeatAt: number): Promise<void> {
    this.#engaging = this.#engage(heartbeatAt);
    await this.#engaging;
  }

  async #engage(heartbeatAt: number): Promise<void> {
    const { action, guard, fence, host, downMs, onError } = this.#options;
    if (action === 'off') return;
    if (!this.#isEngaged) {
      this.#count++;
      onError(new Error(`the host ${host} did not store a heartbeat in time: applying "${action}" to its machines`));
    }
    this.#isEngaged = true;
    if (guard && (await this.ensureGuard(heartbeatAt))) return;
    const ids = await fence(action, downMs * RESPONSE_FRACTION);
    if (action === 'pause') for (const id of ids) this.#paused.add(id);
  }

  /** Resumes paused machines whose servers are still on this host. Stopped ones stay off, as after a power failure. */
  async lift(signal: AbortSignal): Promise<void> {
    const { store, host, machines, guard, onError } = this.#options;
    await this.#engaging.catch(() => {});
    this.#isEngaged = false;
    const pausedByGuard = (await guard?.listPaused().catch(onError)) ?? [];
    for (const id of new Set([...this.#paused, ...pausedByGuard])) {
      const server = await tables.servers.get(store, id);
      this.#paused.delete(id);
      if (!server || server.deleted || server.host !== host || server.vmState !== 'active') continue;
      await machines.perform({ work: { verb: 'unpause' }, server, origin: UNPAUSE_ORIGIN }, signal).catch(onError);
    }
  }
}
