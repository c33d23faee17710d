import type { Core } from '../core/core.js';
import { createPowerChangeJob } from '../hosts/follow-power.js';
import { PowerWatch } from '../hosts/power-watch.js';
import { ReportWatch } from '../hosts/report-watch.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';

/** Watches the machines of this process's driver, and the computer on which they run. */
export interface DriverWatches {
  /** Returns the driver's latest report, and the names of the hosts that it describes. */
  latest(): ReportWatch['latest'];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the watches for the power states of this process's machines and for the state of their computer. */
export function createDriverWatches(
  { store, clock, driver, worker, infrastructure }: Core,
  onError: (error: unknown) => void,
): DriverWatches {
  const powerWatch = new PowerWatch({
    store,
    driver,
    follow: async (server, change) => {
      await store.transaction((tx) => worker.add(tx, createPowerChangeJob(server, change)));
    },
    onError,
  });
  const reportWatch = new ReportWatch({
    store,
    clock,
    driver,
    hosts: async () => {
      const { services } = await infrastructure.current();
      return services.filter(({ binary, embedded }) => embedded && binary === COMPUTE_BINARY).map(({ host }) => host);
    },
    onChange: (tx) => infrastructure.invalidateAfterCommit(tx),
    onError,
  });
  return {
    latest: () => reportWatch.latest,
    start: async () => {
      powerWatch.start();
      await reportWatch.start();
    },
    stop: async () => {
      await powerWatch.stop();
      await reportWatch.stop();
    },
  };
}
