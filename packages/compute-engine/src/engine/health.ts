import type { ReadReplicas, ReplicaState } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import { failedPartHealth, machinesHealth, type PartHealth } from '../core/part-health.js';
import { oldestOverdueMs } from '../jobs/jobs.js';

/** Health of the background jobs. */
export interface WorkerHealth extends PartHealth {
  /** How long the oldest due job has been waiting for a worker, in milliseconds; 0 if no job is due. */
  readonly overdueMs: number;
}

/**
 * Checks the health of the engine's parts, for health endpoints. Each call executes the check again and never rejects.
 * A call can take as long as a database query, so timeouts and caching are left to the endpoint.
 */
export interface EngineHealth {
  /** Checks that the database accepts and stores writes: writes one row and waits until it is durable. */
  database(): Promise<PartHealth>;
  /** Checks that this or another process executes background jobs: no job has been overdue for too long. */
  worker(): Promise<WorkerHealth>;
  /**
   * Checks that this process's driver can start servers on this computer. A driver without `hostReport` counts as
   * healthy.
   */
  machines(): Promise<PartHealth>;
  /**
   * Checks every replica of `databaseRead`, and reports its lag. An unusable replica only adds load to the primary, so
   * it is not a reason to take this process out of service.
   */
  replicas(): Promise<PartHealth>;
}

/**
 * If a job has been overdue for this long, no worker is alive, because leases last 10 s and workers poll at least every 2
 * s.
 */
const OVERDUE_MS = 30_000;

function describeReplica({ name, staleMs, failure }: ReplicaState): string {
  if (failure !== undefined) return `${name}: ${failure}`;
  return staleMs === undefined ? `${name}: lag unknown.` : `${name} lags by at most ${Math.round(staleMs)} ms.`;
}

async function replicasHealth(replicas: ReadReplicas | undefined): Promise<PartHealth> {
  const states = (await replicas?.states()) ?? [];
  if (states.length === 0) return { healthy: true, reason: 'No replicas are configured.' };
  const healthy = states.every(({ failure, staleMs }) => failure === undefined && staleMs !== undefined);
  return { healthy, reason: states.map(describeReplica).join(' ') };
}

/** Creates the health checks of an engine. */
export function engineHealth({ store, driver }: Pick<Core, 'store' | 'driver'>): EngineHealth {
  return {
    database: () =>
      store.check().then(() => ({ healthy: true, reason: 'The database accepts writes.' }), failedPartHealth),
    worker: () =>
      oldestOverdueMs(store, Date.now()).then(
        (overdueMs) =>
          overdueMs > OVERDUE_MS
            ? { healthy: false, reason: `Jobs have been waiting for ${Math.round(overdueMs / 1000)} s.`, overdueMs }
            : { healthy: true, reason: 'Jobs are executed.', overdueMs },
        (error) => ({ ...failedPartHealth(error), overdueMs: 0 }),
      ),
    machines: () => machinesHealth(driver),
    replicas: () => replicasHealth(store.replicas),
  };
}
