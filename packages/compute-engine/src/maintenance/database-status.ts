import { SqliteOwner } from '@apistrata/record-store';
import { migrations } from '../schema/migrations/index.js';
import { type DatabaseReader, openReader, readChanges, readSingleRow } from './database-reader.js';

/**
 * State of a cloud's database, whether or not a process is serving the API. Sizes are in bytes, times in milliseconds.
 */
export interface DatabaseStatus {
  readonly kind: 'sqlite' | 'postgres';
  readonly bytes: number;
  /** Description of the processes that use the database; null if there are none. */
  readonly usedBy: string | null;
  readonly tables: {
    /** The name of the newest schema change in the database; null if the database has no tables. */
    readonly newestChange: string | null;
    /** Schema changes that this version would apply. */
    readonly pending: readonly string[];
    /** Schema changes in the database that only newer versions know. */
    readonly newer: readonly string[];
  };
  /** Number of servers in each state, without deleted ones. */
  readonly servers: Readonly<Record<string, number>>;
  readonly work: {
    readonly jobs: number;
    /** Number of jobs that workers are executing. */
    readonly running: number;
    /** How long the oldest due job has been waiting for a worker; 0 if no job is due. */
    readonly overdueMs: number;
  };
}

const SIZE_QUERIES = {
  sqlite: 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
  postgres: 'select pg_database_size(current_database()) as bytes',
} as const;

/** Counts the connections of this software's servers and commands, except the current connection. */
const CONNECTIONS_QUERY = `select count(*) as n from pg_stat_activity
  where datname = current_database() and application_name = 'apistrata' and pid <> pg_backend_pid()`;

async function describeUsers(reader: DatabaseReader, url: string): Promise<string | null> {
  if (reader.kind === 'sqlite') return SqliteOwner.holder(url) ?? null;
  const n = Number((await readSingleRow(reader, CONNECTIONS_QUERY)).n);
  return n === 0 ? null : `${n} server connections`;
}

async function readJobCounts(reader: DatabaseReader): Promise<DatabaseStatus['work']> {
  const now = Date.now();
  const { jobs, running, since } = await readSingleRow(
    reader,
    `
    select count(*) as jobs,
      sum(case when lease_until >= ${now} then 1 else 0 end) as running,
      min(case when lease_until < ${now} and run_at <= ${now} then
        case when run_at > lease_until then run_at else lease_until end end) as since
    from jobs`,
  );
  return { jobs: Number(jobs), running: Number(running ?? 0), overdueMs: since === null ? 0 : now - Number(since) };
}

async function countServers({ rows }: DatabaseReader): Promise<DatabaseStatus['servers']> {
  const states = await rows(
    'select vm_state, count(*) as n from servers where deleted = 0 group by vm_state order by 1',
  );
  return Object.fromEntries(states.map(({ vm_state, n }) => [vm_state, Number(n)]));
}

/**
 * Reads the state of a database without changing it.
 * @param url a SQLite file, or `postgres://...`
 * @throws MaintenanceError for a missing file, DatabaseUnavailable
 */
export async function databaseStatus(url: string): Promise<DatabaseStatus> {
  const reader = openReader(url);
  try {
    const appliedChanges = await readChanges(reader);
    const knownNames = Object.keys(migrations);
    const isEmpty = appliedChanges.length === 0;
    return {
      kind: reader.kind,
      bytes: Number((await readSingleRow(reader, SIZE_QUERIES[reader.kind])).bytes),
      usedBy: await describeUsers(reader, url),
      tables: {
        newestChange: appliedChanges.at(-1) ?? null,
        pending: knownNames.filter((name) => !appliedChanges.includes(name)),
        newer: appliedChanges.filter((name) => !knownNames.includes(name)),
      },
      servers: isEmpty ? {} : await countServers(reader),
      work: isEmpty ? { jobs: 0, running: 0, overdueMs: 0 } : await readJobCounts(reader),
    };
  } finally {
    await reader.close();
  }
}
