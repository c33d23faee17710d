import type { Core } from '../core/core.js';
import { followPowerJob } from '../hosts/follow-power.js';
import { PowerWatch } from '../hosts/power-watch.js';
import { ReportWatch } from '../hosts/report-watch.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';

/** Watches the machines of this process's driver, and their computer. */
export interface DriverWatches {
  /** Returns the driver's latest report, and the names of the hosts that it describes. */
  latest(): ReportWatch['latest'];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the watches for the power states of this process's machines and for the state of their computer. */
export function driverWatches(
  { store, clock, driver, worker, infrastructure }: Core,
  onError: (error: unknown) => void,
): DriverWatches {
  const power = new PowerWatch({
    store,
    driver,
    follow: async (server, change) => {
      await store.transaction((tx) => worker.add(tx, followPowerJob(server, change)));
    },
    onError,
  });
  const reports = new ReportWatch({
    store,
    clock,
    driver,
    hosts: async () => {
      const { services } = await infrastructure.current();
      return services.filter(({ binary, embedded }) => embedded && binary === COMPUTE_BINARY).map(({ host }) => host);
    },
    onChange: (tx) => infrastructure.changedIn(tx),
    onError,
  });
  return {
    latest: () => reports.latest,
    start: async () => {
      power.start();
      await reports.start();
    },
    stop: async () => {
      await power.stop();
      await reports.stop();
    },
  };
}
