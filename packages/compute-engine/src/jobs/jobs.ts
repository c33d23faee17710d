import { gathered, hotStatement, insertRows, type Session, type Store, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { JobPayload, Payloads, ReadPayload } from './payloads.js';

/** Background work that is owed: written in the transaction that promised it, gone when it is done. */
export interface Job extends ReadPayload {
  readonly id: string;
  readonly kind: string;
  readonly serverId: string | null;
  /** How often it was begun, this time included. */
  readonly attempts: number;
  /** Since when this try was due, in milliseconds since the epoch. */
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

/** Who holds a job, and until when if nothing more is heard of it. In the machine's own time. */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

/** A job before it is written down. Its id is chosen beforehand, so that the server can name it. */
export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly serverId: string | null;
  readonly payload: JobPayload;
}

/** After this many failures the pauses between tries grow no longer. */
const LONGEST_BACKOFF = 6;

/** How long a job that failed so often waits for its next try: each time twice as long, up to 32 times the first. */
export function retryDelayMs(attempts: number, firstMs: number): number {
  return firstMs * 2 ** (Math.min(Math.max(attempts, 1), LONGEST_BACKOFF) - 1);
}

const JOB_COLUMNS = ['id', 'kind', 'server_id', 'payload', 'run_at', 'lease_owner', 'lease_until', 'attempts'] as const;

const insertJob = hotStatement(({ db }) =>
  db.insertInto('jobs').values(Object.fromEntries(JOB_COLUMNS.map((column) => [column, '']))),
);
const deleteJob = hotStatement(({ db }) => db.deleteFrom('jobs').where('id', '=', ''));
const selectHeldJob = hotStatement(({ db }) =>
  db.selectFrom('jobs').select('id').where('id', '=', '').where('lease_owner', '=', ''),
);
const deleteHeldJob = hotStatement(({ db }) =>
  db.deleteFrom('jobs').where('id', '=', '').where('lease_owner', '=', ''),
);

/** The table of jobs: what is owed, who is at it, and when it is tried next. */
export class Jobs {
  readonly #store: Store;
  readonly #payloads: Payloads;

  constructor(store: Store, payloads: Payloads) {
    this.#store = store;
    this.#payloads = payloads;
  }

  /**
   * Writes a job down. With a lease it belongs to that holder; otherwise to whoever claims it first.
   * @param begun whether the holder has begun it, or only keeps others from doing so
   */
  async add(tx: Tx, job: NewJob, lease: Lease | undefined, begun: boolean): Promise<Job> {
    const attempts = begun ? 1 : 0;
    const dueAt = Date.now();
    const { id, kind, serverId } = job;
    const payload = this.#payloads.write(id, job.payload);
    const row = [id, kind, serverId, payload, dueAt, lease?.owner ?? null, lease?.until ?? 0, attempts];
    const one = (values: readonly unknown[]) => insertJob(tx, values).then(() => {});
    await gathered(tx, 'insert jobs', row, one, (rows) => insertRows(tx, 'jobs', JOB_COLUMNS, rows));
    return { ...job, attempts, dueAt };
  }

  /** Takes jobs that are due and that nobody holds (or whose holder let its lease run out). */
  async claim(lease: Lease, most: number): Promise<readonly Job[]> {
    const { db, kind } = this.#store;
    const now = Date.now();
    const due = db
      .selectFrom('jobs')
      .select('id')
      .where('lease_until', '<', now)
      .where('run_at', '<=', now)
      .orderBy('run_at')
      .limit(most);
    const rows = await db
      .updateTable('jobs')
      .set({ lease_owner: lease.owner, lease_until: lease.until, attempts: sql`attempts + 1` })
      .where('id', 'in', kind === 'postgres' ? due.forUpdate().skipLocked() : due)
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

  /** Lengthens the leases of those jobs that the holder still has; resolves to these. */
  async renew(lease: Lease, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const { db, kind } = this.#store;
    const held = db.selectFrom('jobs').select('id').where('lease_owner', '=', lease.owner).where('id', 'in', ids);
    const renewed = await db
      .updateTable('jobs')
      .set({ lease_until: lease.until })
      // A transaction that ends several jobs is waited for by none: the two could wait for each other.
      .where('id', 'in', kind === 'postgres' ? held.forUpdate().skipLocked() : held)
      .returning('id')
      .execute();
    // What is just being ended is still held until that is durable.
    const rows = renewed.length === ids.length ? renewed : await held.execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Gives one job back, to be tried again by whoever finds it first after that time. */
  async defer(owner: string, id: string, runAt: number): Promise<void> {
    await this.#store.db
      .updateTable('jobs')
      .set({ lease_until: 0, lease_owner: null, run_at: runAt })
      .where('id', '=', id)
      .where('lease_owner', '=', owner)
      .execute();
  }

  /** Gives back what a holder, or (left out) anybody, has not finished, for others to take up at once. */
  async release(owner?: string): Promise<void> {
    const held = this.#store.db.updateTable('jobs').set({ lease_until: 0, lease_owner: null });
    await (owner === undefined ? held : held.where('lease_owner', '=', owner)).execute();
  }

  /** Removes a job. False when there was nothing to remove. */
  async remove(tx: Tx, id: string): Promise<boolean> {
    const one = async () => (await deleteJob(tx, [id])).numAffectedRows === 1n;
    return gathered(tx, 'delete jobs', id, one, async (ids) => {
      const gone = await tx.db.deleteFrom('jobs').where('id', '=', sql`any(${ids})`).returning('id').execute();
      const removed = new Set(gone.map((row) => row.id));
      return ids.map((each) => removed.has(each));
    });
  }

  /** Removes a job while its owner holds it. False when there was nothing to remove. */
  async removeHeld(tx: Tx, id: string, owner: string): Promise<boolean> {
    return (await deleteHeldJob(tx, [id, owner])).numAffectedRows === 1n;
  }

  /** Whether the owner still has the job; others may take it as soon as its lease has expired. */
  async isHeld(session: Session, id: string, owner: string): Promise<boolean> {
    return (await selectHeldJob(session, [id, owner])).rows.length === 1;
  }

  /** Jobs that exist, in all processes. */
  async count(): Promise<number> {
    const { n } = await this.#store.db
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    return Number(n);
  }
}

/** For how long, in milliseconds, the oldest job that nobody holds has been due; 0 when there is none. */
export async function oldestOverdueJob(session: Session, now: number): Promise<number> {
  const free = sql<number | null>`min(case when run_at > lease_until then run_at else lease_until end)`;
  const { since } = await session.db
    .selectFrom('jobs')
    .select(free.as('since'))
    .where('lease_until', '<', now)
    .where('run_at', '<=', now)
    .executeTakeFirstOrThrow();
  return since === null ? 0 : now - Number(since);
}
