import { batchStatement, hotStatement, insertRows, type Session, type Store, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { DecodedPayload, JobPayload, Payloads } from './payloads.js';

/** A background job: stored in the transaction that accepts the work, and deleted when it is complete. */
export interface Job extends DecodedPayload {
  readonly id: string;
  readonly kind: string;
  readonly serverId: string | null;
  /** Number of attempts, including the current one. */
  readonly attempts: number;
  /** Time at which this attempt was due, in milliseconds since the epoch. */
  readonly dueAt: number;
}

interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly server_id: string | null;
  readonly payload: string;
  readonly attempts: number;
  readonly run_at: number;
}

/**
 * The lease of a job: its holder, and the time at which it expires unless it is renewed. Times follow the system clock.
 */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

/** A job before it is stored. The caller chooses its id, so that the server can refer to it. */
export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly serverId: string | null;
  readonly payload: JobPayload;
}

/** Number of failures after which the backoff stops growing. */
const MAX_BACKOFF_FAILURES = 6;

/** Returns the delay before the next attempt, which doubles with each failure up to 32 times the first delay. */
export function retryDelayMs(attempts: number, firstMs: number): number {
  return firstMs * 2 ** (Math.min(Math.max(attempts, 1), MAX_BACKOFF_FAILURES) - 1);
}

const JOB_COLUMNS = ['id', 'kind', 'server_id', 'payload', 'run_at', 'lease_owner', 'lease_until', 'attempts'] as const;

const insertJob = hotStatement(({ db }) =>
  db.insertInto('jobs').values(Object.fromEntries(JOB_COLUMNS.map((column) => [column, '']))),
);
const deleteJob = hotStatement(({ db }) => db.deleteFrom('jobs').where('id', '=', ''));
const selectLeasedJob = hotStatement(({ db }) =>
  db.selectFrom('jobs').select('id').where('id', '=', '').where('lease_owner', '=', ''),
);
const deleteLeasedJob = hotStatement(({ db }) =>
  db.deleteFrom('jobs').where('id', '=', '').where('lease_owner', '=', ''),
);

/** The jobs table, including leases and due times. */
export class Jobs {
  readonly #store: Store;
  readonly #payloads: Payloads;

  constructor(store: Store, payloads: Payloads) {
    this.#store = store;
    this.#payloads = payloads;
  }

  /**
   * Stores a job. If a lease is given, only its holder may execute the job until the lease expires. Otherwise, the
   * first worker that claims the job executes it.
   * @param started whether the holder has started the job, or only prevents others from starting it
   */
  async add(tx: Tx, job: NewJob, lease: Lease | undefined, started: boolean): Promise<Job> {
    const attempts = started ? 1 : 0;
    const dueAt = Date.now();
    const { id, kind, serverId } = job;
    const payload = this.#payloads.write(id, job.payload);
    const row = [id, kind, serverId, payload, dueAt, lease?.owner ?? null, lease?.until ?? 0, attempts];
    const executeOne = (values: readonly unknown[]) => insertJob(tx, values).then(() => {});
    await batchStatement(tx, 'insert jobs', row, executeOne, (rows) => insertRows(tx, 'jobs', JOB_COLUMNS, rows));
    return { ...job, attempts, dueAt };
  }

  /** Claims due jobs that have no lease, or whose lease has expired. */
  async claim(lease: Lease, max: number): Promise<readonly Job[]> {
    const { db, kind } = this.#store;
    const now = Date.now();
    const dueJobs = db
      .selectFrom('jobs')
      .select('id')
      .where('lease_until', '<', now)
      .where('run_at', '<=', now)
      .orderBy('run_at')
      .limit(max);
    const rows = await db
      .updateTable('jobs')
      .set({ lease_owner: lease.owner, lease_until: lease.until, attempts: sql`attempts + 1` })
      .where('id', 'in', kind === 'postgres' ? dueJobs.forUpdate().skipLocked() : dueJobs)
      .returning(['id', 'kind', 'server_id', 'payload', 'attempts', 'run_at'])
      .execute();
    return (rows as JobRow[]).map((row) => ({
      id: row.id,
      kind: row.kind,
      serverId: row.server_id,
      attempts: row.attempts,
      dueAt: Number(row.run_at),
      ...this.#payloads.read(row.id, row.payload),
    }));
  }

  /** Renews the leases that the holder still has, and returns the ids of their jobs. */
  async renew(lease: Lease, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const { db, kind } = this.#store;
    const leasedJobs = db.selectFrom('jobs').select('id').where('lease_owner', '=', lease.owner).where('id', 'in', ids);
    const renewedRows = await db
      .updateTable('jobs')
      .set({ lease_until: lease.until })
      // Rows that another transaction has locked are skipped: waiting for a transaction that deletes several jobs could
      // deadlock.
      .where('id', 'in', kind === 'postgres' ? leasedJobs.forUpdate().skipLocked() : leasedJobs)
      .returning('id')
      .execute();
    // A job that is being completed keeps its lease until the completion is committed.
    const rows = renewedRows.length === ids.length ? renewedRows : await leasedJobs.execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Puts a job back into the queue, due at a later time. */
  async defer(owner: string, id: string, runAt: number): Promise<void> {
    await this.#store.db
      .updateTable('jobs')
      .set({ lease_until: 0, lease_owner: null, run_at: runAt })
      .where('id', '=', id)
      .where('lease_owner', '=', owner)
      .execute();
  }

  /** Releases the jobs of a holder, or of all holders if omitted, so that others can claim them immediately. */
  async release(owner?: string): Promise<void> {
    const leasedJobs = this.#store.db.updateTable('jobs').set({ lease_until: 0, lease_owner: null });
    await (owner === undefined ? leasedJobs : leasedJobs.where('lease_owner', '=', owner)).execute();
  }

  /** Deletes a job. Returns false if it does not exist. */
  async remove(tx: Tx, id: string): Promise<boolean> {
    const executeOne = async () => (await deleteJob(tx, [id])).numAffectedRows === 1n;
    return batchStatement(tx, 'delete jobs', id, executeOne, async (ids) => {
      const deleted = await tx.db.deleteFrom('jobs').where('id', '=', sql`any(${ids})`).returning('id').execute();
      const deletedIds = new Set(deleted.map((row) => row.id));
      return ids.map((each) => deletedIds.has(each));
    });
  }

  /** Deletes a job if the owner has its lease. Returns false otherwise. */
  async removeLeased(tx: Tx, id: string, owner: string): Promise<boolean> {
    return (await deleteLeasedJob(tx, [id, owner])).numAffectedRows === 1n;
  }

  /**
   * Returns whether the owner still has the lease of the job; others may claim the job as soon as its lease has
   * expired.
   */
  async isLeased(session: Session, id: string, owner: string): Promise<boolean> {
    return (await selectLeasedJob(session, [id, owner])).rows.length === 1;
  }

  async exists(session: Session, id: string): Promise<boolean> {
    return (await session.db.selectFrom('jobs').select('id').where('id', '=', id).execute()).length === 1;
  }

  /** Returns the number of jobs across all processes. */
  async count(): Promise<number> {
    const { n } = await this.#store.db
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    return Number(n);
  }
}

/** Returns how long, in milliseconds, the oldest due job has been waiting for a worker; 0 if no job is due. */
export async function oldestOverdueMs(session: Session, now: number): Promise<number> {
  const dueSince = sql<number | null>`min(case when run_at > lease_until then run_at else lease_until end)`;
  const { since } = await session.db
    .selectFrom('jobs')
    .select(dueSince.as('since'))
    .where('lease_until', '<', now)
    .where('run_at', '<=', now)
    .executeTakeFirstOrThrow();
  return since === null ? 0 : now - Number(since);
}
