import type { Store, Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Driver } from '../drivers/driver.js';
import type { HostReport } from '../model/index.js';
import { recordReport } from './record-report.js';

/** Options for a report watch. */
export interface ReportWatchOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly driver: Driver;
  /** Returns the names of the hosts on the driver's computer. */
  readonly hosts: () => Promise<readonly string[]>;
  /** Called in a transaction that has changed a host. */
  readonly onChange?: (tx: Tx) => void;
  readonly onError: (error: unknown) => void;
}

/** Interval between reports if the driver emits no events. */
const REPORT_INTERVAL_MS = 10_000;

/** Stores what a driver reports about its computer: at the start, periodically, and after each driver event. */
export class ReportWatch {
  readonly #options: ReportWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  #recording: Promise<void> | undefined;
  #mustRepeat = false;
  #stopped = false;
  #hosts: readonly string[] = [];
  #report: HostReport | undefined;

  constructor(options: ReportWatchOptions) {
    this.#options = options;
  }

  /**
   * The latest report and its hosts. The report is undefined if the driver does not report or the last attempt failed.
   */
  get latest(): { readonly hosts: readonly string[]; readonly report: HostReport | undefined } {
    return { hosts: this.#hosts, report: this.#report };
  }

  /** Resolves after the first report is stored. A no-op for drivers without reports. */
  async start(): Promise<void> {
    const { driver } = this.#options;
    if (!driver.hostReport) return;
    this.#unsubscribe = driver.onHostChange?.(() => void this.#record());
    this.#timer = setInterval(() => void this.#record(), REPORT_INTERVAL_MS).unref();
    await this.#record();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    clearInterval(this.#timer);
    await this.#recording;
  }

  /** Stores one report at a time. A call in the meantime triggers another report afterwards. */
  #record(): Promise<void> {
    if (this.#recording) this.#mustRepeat = true;
    this.#recording ??= this.#store()
      .catch((error) => {
        if (!this.#stopped) this.#options.onError(error);
      })
      .finally(() => {
        this.#recording = undefined;
        const mustRepeat = this.#mustRepeat && !this.#stopped;
        this.#mustRepeat = false;
        if (mustRepeat) void this.#record();
      });
    return this.#recording;
  }

  async #store(): Promise<void> {
    const { store, clock, driver, hosts, onChange } = this.#options;
    const report = await driver.hostReport?.().catch((error) => {
      this.#report = undefined;
      throw error;
    });
    this.#report = report;
    if (!report || this.#stopped) return;
    this.#hosts = await hosts();
    for (const host of this.#hosts)
      await store.transaction(async (tx) => {
        if (await recordReport(tx, host, report, clock.now())) onChange?.(tx);
      });
  }
}
