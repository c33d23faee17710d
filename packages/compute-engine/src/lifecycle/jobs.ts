import { sql } from 'kysely';
import type { Context } from '../context.js';
import type { Session, Tx } from '../store/database.js';

/** Background work that is owed: written in the transaction that promised it, gone when it is done. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly serverId: string | null;
  readonly payload: JobPayload;
  /** How often it was begun, this time included. */
  readonly attempts: number;
}

export interface JobPayload {
  readonly context: Context;
  readonly arguments: Readonly<Record<string, any>>;
}

interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly server_id: string | null;
  readonly payload: string;
  readonly attempts: number;
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    serverId: row.server_id,
    payload: JSON.parse(row.payload),
    attempts: row.attempts,
  };
}

/** Who holds new work from the start: the worker in this process, when there is one. */
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

/** Writes a job down. With a lease it belongs to that worker at once; otherwise to whoever claims it first. */
export async function addJob(tx: Tx, job: NewJob, runAt: number, lease?: Lease): Promise<Job> {
  await tx.db
    .insertInto('jobs')
    .values({
      id: job.id,
      kind: job.kind,
      server_id: job.serverId,
      payload: JSON.stringify(job.payload),
      run_at: runAt,
      lease_owner: lease?.owner ?? null,
      lease_until: lease?.until ?? 0,
      attempts: lease ? 1 : 0,
    })
    .execute();
  return { ...job, attempts: lease ? 1 : 0 };
}

/** Takes jobs that are due and that nobody holds (or whose holder let its lease run out). */
export async function claimJobs(session: Session, lease: Lease, now: number, most: number): Promise<readonly Job[]> {
  const due = session.db
    .selectFrom('jobs')
    .select('id')
    .where('lease_until', '<', now)
    .where('run_at', '<=', now)
    .orderBy('run_at')
    .limit(most);
  const rows = await session.db
    .updateTable('jobs')
    .set({ lease_owner: lease.owner, lease_until: lease.until, attempts: sql`attempts + 1` })
    .where('id', 'in', session.kind === 'postgres' ? due.forUpdate().skipLocked() : due)
    .returning(['id', 'kind', 'server_id', 'payload', 'attempts'])
    .execute();
  return (rows as JobRow[]).map(toJob);
}

/** Lengthens every lease of a worker. */
export async function renewLeases(session: Session, lease: Lease): Promise<void> {
  await session.db
    .updateTable('jobs')
    .set({ lease_until: lease.until })
    .where('lease_owner', '=', lease.owner)
    .execute();
}

/** Gives back what a worker, or (left out) anybody, has not finished, for others to take up at once. */
export async function releaseLeases(session: Session, owner?: string): Promise<void> {
  const held = session.db.updateTable('jobs').set({ lease_until: 0, lease_owner: null });
  await (owner === undefined ? held : held.where('lease_owner', '=', owner)).execute();
}

export async function removeJob(tx: Session, id: string): Promise<void> {
  await tx.db.deleteFrom('jobs').where('id', '=', id).execute();
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

export async function countJobs(session: Session): Promise<number> {
  const { n } = await session.db
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}
