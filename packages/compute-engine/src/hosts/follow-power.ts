import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { backgroundContext } from '../core/context.js';
import type { Driver } from '../drivers/driver.js';
import { Jobs, type NewJob } from '../jobs/jobs.js';
import { Payloads } from '../jobs/payloads.js';
import type { Server } from '../model/index.js';
import { type PowerChange, PowerWatch } from './power-watch.js';

/**
 * Creates the job that updates a server after the power state of its machine has changed. Any API process may execute
 * it.
 */
export function createPowerChangeJob(server: Server, change: PowerChange): NewJob {
  const { id, revision } = server;
  return {
    id: randomUUID(),
    kind: 'followPower',
    serverId: id,
    payload: { context: backgroundContext(server), arguments: { revision, ...change } },
  };
}

/** Creates the power watch of a host process. It stores a job for an API process after each change. */
export function createHostPowerWatch(options: {
  readonly store: Store;
  readonly driver: Driver;
  readonly host: string;
  readonly onError: (error: unknown) => void;
}): PowerWatch {
  const { store } = options;
  // The payload is not encrypted, because it contains no secrets and a host does not have the key for job payloads.
  const jobs = new Jobs(store, new Payloads(undefined, { keepTokens: false }));
  return new PowerWatch({
    ...options,
    follow: async (server, change) => {
      await store.transaction((tx) => jobs.add(tx, createPowerChangeJob(server, change), undefined, false));
    },
  });
}
