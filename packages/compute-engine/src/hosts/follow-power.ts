import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { ownWork } from '../core/context.js';
import type { Driver } from '../drivers/driver.js';
import { Jobs, type NewJob } from '../jobs/jobs.js';
import { Payloads } from '../jobs/payloads.js';
import type { PowerState, Server } from '../model/index.js';
import type { Sealer } from '../secrets/sealer.js';
import { PowerWatch } from './power-watch.js';

/** Makes the job that has a server follow its machine: any process of the API does it. */
export function followPowerJob(server: Server, powerState: PowerState): NewJob {
  const { id, revision } = server;
  return {
    id: randomUUID(),
    kind: 'followPower',
    serverId: id,
    payload: { context: ownWork(server), arguments: { revision, powerState } },
  };
}

/** Watches the machines of a host that is a process of its own: what it finds is a job for a process of the API. */
export function powerWatchOfHost(options: {
  readonly store: Store;
  readonly sealer: Sealer | undefined;
  readonly driver: Driver;
  readonly host: string;
  readonly onError: (error: unknown) => void;
}): PowerWatch {
  const { store, sealer } = options;
  const jobs = new Jobs(store, new Payloads(sealer, { keepTokens: false }));
  return new PowerWatch({
    ...options,
    follow: async (server, powerState) => {
      await store.transaction((tx) => jobs.add(tx, followPowerJob(server, powerState), undefined, false));
    },
  });
}
