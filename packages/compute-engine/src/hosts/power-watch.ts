import type { Store } from '@apistrata/record-store';
import type { Driver } from '../drivers/driver.js';
import type { PowerState, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/**
 * A change of a machine's power state that no command caused: the machine stopped, or its hypervisor paused or resumed
 * it.
 */
export interface PowerChange {
  readonly powerState: PowerState;
  /** Whether the machine stopped because its computer was powered off or restarted. */
  readonly withHost: boolean;
}

/** Options for a power watch. */
export interface PowerWatchOptions {
  readonly store: Store;
  readonly driver: Driver;
  /** The host whose servers are watched; undefined: all hosts whose driver runs in this process. */
  readonly host?: string;
  /** Updates a server after its machine's power state has changed, unless the server has changed in the meantime. */
  readonly follow: (server: Server, change: PowerChange) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Interval between passes over all machines, in case an event was lost. */
const PASS_INTERVAL_MS = 30_000;
/** Delay before a server is checked again if it was busy or its machine did not respond. */
const RETRY_INTERVAL_MS = 500;

const ON_STATES: ReadonlySet<PowerState> = new Set<PowerState>([1, 3]);
const OFF_STATES: ReadonlySet<PowerState | null> = new Set<PowerState | null>([4, 6]);

/**
 * Finds servers whose machine is off, or was paused or resumed by its hypervisor, although the API shows another power
 * state. Checks servers at startup, after each driver event, and in periodic passes. Servers with a task or a job are
 * checked when it has ended.
 */
export class PowerWatch {
  readonly #options: PowerWatchOptions;
  readonly #runningChecks = new Map<string, Promise<void>>();
  readonly #recheckIds = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #unsubscribe: (() => void) | undefined;
  #runningPass: Promise<void> | undefined;
  #stopped = false;

  constructor(options: PowerWatchOptions) {
    this.#options = options;
  }

  /** Starts watching; a no-op for drivers without power states. */
  start(): void {
    const { driver } = this.#options;
    if (!driver.powerState) return;
    this.#unsubscribe = driver.onPowerChange?.((id) => this.#check([id]));
    this.#repeatEvery(PASS_INTERVAL_MS, () => this.#pass());
    this.#repeatEvery(RETRY_INTERVAL_MS, () => {
      const ids = [...this.#recheckIds];
      this.#recheckIds.clear();
      this.#check(ids);
    });
    this.#pass();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#runningPass;
    await Promise.all(this.#runningChecks.values());
  }

  #repeatEvery(ms: number, work: () => void): void {
    this.#timers.add(setInterval(work, ms).unref());
  }

  #pass(): void {
    const { driver } = this.#options;
    const checkAll = async () => this.#check((await driver.machines?.()) ?? []);
    this.#runningPass ??= checkAll()
      .catch((error) => this.#reportError(error))
      .finally(() => {
        this.#runningPass = undefined;
      });
  }

  #reportError(error: unknown): void {
    if (!this.#stopped) this.#options.onError(error);
  }

  /**
   * Checks servers concurrently, so that a machine that does not respond does not delay others. A server that is
   * already being checked is checked again afterwards.
   */
  #check(ids: readonly string[]): void {
    if (this.#stopped) return;
    for (const id of ids)
      if (this.#runningChecks.has(id)) this.#recheckIds.add(id);
      else
        this.#runningChecks.set(
          id,
          this.#comparePowerState(id)
            .catch((error) => this.#reportError(error))
            .finally(() => this.#runningChecks.delete(id)),
        );
  }

  async #comparePowerState(id: string): Promise<void> {
    const { store, driver, host, follow } = this.#options;
    const server = await tables.servers.get(store, id);
    if (!server || server.deleted || (host !== undefined && server.host !== host) || !ON_STATES.has(server.powerState))
      return;
    if (server.taskState !== null || server.jobId !== null) {
      this.#recheckIds.add(id);
      return;
    }
    const powerState = (await driver.powerState?.(server)) ?? null;
    if (powerState === null) this.#recheckIds.add(id);
    else if (OFF_STATES.has(powerState) || (powerState !== server.powerState && server.vmState !== 'paused')) {
      const withHost = OFF_STATES.has(powerState) && ((await driver.hasStoppedWithHost?.(server)) ?? false);
      if (!this.#stopped) await follow(server, { powerState, withHost });
    }
  }
}
