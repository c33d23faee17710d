import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { backgroundWork } from '../core/context.js';
import type { Driver } from '../drivers/driver.js';
import { Jobs, type NewJob } from '../jobs/jobs.js';
import { Payloads } from '../jobs/payloads.js';
import type { Server } from '../model/index.js';
import { type MachineEnd, PowerWatch } from './power-watch.js';

/** Creates the job that updates a server after its machine changed its power state; any API process may execute it. */
export function followPowerJob(server: Server, end: MachineEnd): NewJob {
  const { id, revision } = server;
  return {
    id: randomUUID(),
    kind: 'followPower',
    serverId: id,
    payload: { context: backgroundWork(server), arguments: { revision, ...end } },
  };
}

/** Watches the machines of a host process; each change becomes a job for an API process. */
export function powerWatchOfHost(options: {
  readonly store: Store;
  readonly driver: Driver;
  readonly host: string;
  readonly onError: (error: unknown) => void;
}): PowerWatch {
  const { store } = options;
  // It contains no secrets, and a host has only its own key.
  const jobs = new Jobs(store, new Payloads(undefined, { keepTokens: false }));
  return new PowerWatch({
    ...options,
    follow: async (server, end) => {
      await store.transaction((tx) => jobs.add(tx, followPowerJob(server, end), undefined, false));
    },
  });
}
