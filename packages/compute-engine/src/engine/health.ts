import type { ReadReplicas, ReplicaState } from '@apistrata/record-store';
import { databaseError } from '@apistrata/record-store/errors';
import type { Core } from '../core/core.js';
import { oldestOverdueJob } from '../jobs/jobs.js';

/** What one part of the engine says of itself. */
export interface PartHealth {
  readonly healthy: boolean;
  /** One line that may be shown to anybody. */
  readonly reason: string;
}

/** What background work says of itself. */
export interface WorkerHealth extends PartHealth {
  /** How long the oldest job that nobody works on has been due, in milliseconds; 0 when there is none. */
  readonly overdueMs: number;
}

/**
 * Checks of the parts of an engine, for health endpoints. Each asks anew, never throws, and takes as long as the
 * database does: the endpoint brings a time-out and a cache.
 */
export interface EngineHealth {
  /** Whether the database answers and keeps what is written: writes one row and waits until that is durable. */
  database(): Promise<PartHealth>;
  /** Whether background work gets done, by this process or another: no job has been due for too long. */
  worker(): Promise<WorkerHealth>;
  /**
   * Whether every replica of `databaseRead` can be used, each with what it is late by. One that cannot costs the primary its
   * work, and callers nothing: no reason to take this process out of service.
   */
  replicas(): Promise<PartHealth>;
}

/** A job that nobody took up for so long means that no worker is alive: leases are 10 s and are looked for twice a second. */
const OVERDUE_MS = 30_000;

function failed(error: unknown): PartHealth {
  const { message } = databaseError(error) as Error;
  return { healthy: false, reason: message };
}

function lineOf({ name, staleMs, trouble }: ReplicaState): string {
  if (trouble !== undefined) return `${name}: ${trouble}`;
  return staleMs === undefined ? `${name} is late.` : `${name} is late by ${Math.round(staleMs)} ms at the most.`;
}

async function replicasOf(replicas: ReadReplicas | undefined): Promise<PartHealth> {
  const states = (await replicas?.states()) ?? [];
  if (states.length === 0) return { healthy: true, reason: 'There are no replicas.' };
  const healthy = states.every(({ trouble, staleMs }) => trouble === undefined && staleMs !== undefined);
  return { healthy, reason: states.map(lineOf).join(' ') };
}

export function engineHealth({ store }: Pick<Core, 'store'>): EngineHealth {
  return {
    database: () => store.check().then(() => ({ healthy: true, reason: 'The database takes changes.' }), failed),
    worker: () =>
      oldestOverdueJob(store, Date.now()).then(
        (overdueMs) =>
          overdueMs > OVERDUE_MS
            ? { healthy: false, reason: `Work has been waiting for ${Math.round(overdueMs / 1000)} s.`, overdueMs }
            : { healthy: true, reason: 'Work gets done.', overdueMs },
        (error) => ({ ...failed(error), overdueMs: 0 }),
      ),
    replicas: () => replicasOf(store.replicas),
  };
}
