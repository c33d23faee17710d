import { existsSync } from 'node:fs';
import { Payloads } from '../jobs/payloads.js';
import { claimsByHostSql, resourceClaimsByHostSql } from '../scheduler/claims-by-host.js';
import { createSealer, type SecretKeyOptions } from '../secrets/sealer-for.js';
import { type DatabaseReader, isPostgres, openReader } from './database-reader.js';
import { databaseStatus } from './database-status.js';

/** The result of one check of a database. */
export interface Finding {
  readonly what: 'tables' | 'integrity' | 'secrets' | 'capacity' | 'work';
  readonly good: boolean;
  /** The result in one line, with the fix if the check failed. */
  readonly reported: string;
}

/** The location of the keys that decrypt encrypted values. */
export type CheckOptions = SecretKeyOptions;

/** If a job has been overdue for longer than this, no worker is running. */
const OVERDUE_MS = 30_000;

const goodFinding = (what: Finding['what'], reported: string): Finding => ({ what, good: true, reported });
const badFinding = (what: Finding['what'], reported: string): Finding => ({ what, good: false, reported });

async function checkIntegrity({ kind, rows }: DatabaseReader): Promise<Finding> {
  if (kind === 'sqlite') {
    const faults = (await rows('PRAGMA integrity_check(5)')).map(({ integrity_check }) => String(integrity_check));
    if (faults.length === 1 && faults[0] === 'ok') return goodFinding('integrity', 'the file is intact');
    return badFinding('integrity', `the file is damaged; restore a backup: ${faults.join('; ')}`);
  }
  const invalidIndexes = await rows(`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace where not i.indisvalid and n.nspname = current_schema()`);
  if (invalidIndexes.length === 0) return goodFinding('integrity', 'all indexes are valid');
  return badFinding(
    'integrity',
    `invalid indexes, which REINDEX repairs: ${invalidIndexes.map(({ name }) => name).join(', ')}`,
  );
}

async function checkSecrets({ rows }: DatabaseReader, url: string, options: SecretKeyOptions): Promise<Finding> {
  const jobs = (await rows('select id, payload from jobs')).filter(({ payload }) => 'sealed' in JSON.parse(payload));
  if (jobs.length === 0) return goodFinding('secrets', 'no job is encrypted at the moment');
  // A missing key is not created, because a new one cannot decrypt anything.
  const defaultFile = isPostgres(url) || process.env.APISTRATA_SECRET_KEY ? undefined : `${url}.key`;
  const file = options.secretKey === undefined ? (options.secretKeyFile ?? defaultFile) : undefined;
  if (file !== undefined && !existsSync(file))
    return badFinding('secrets', `${jobs.length} jobs are encrypted, and their key ${file} is missing: restore it`);
  try {
    const payloads = new Payloads(await createSealer(url, options), { keepTokens: true });
    const errors = jobs.map(({ id, payload }) => payloads.read(id, payload).unreadable).filter((e) => e !== undefined);
    const [first] = errors;
    if (!first) return goodFinding('secrets', `all ${jobs.length} encrypted jobs can be decrypted with the key`);
    return badFinding('secrets', `${errors.length} of ${jobs.length} jobs cannot be decrypted: ${first.message}`);
  } catch (error) {
    return badFinding(
      'secrets',
      `${jobs.length} jobs are encrypted, and their key is missing: ${(error as Error).message}`,
    );
  }
}

/** Compares each host's counted usage with the claims of its servers, at one point in time. */
async function checkCapacity({ kind, rows }: DatabaseReader): Promise<Finding> {
  const miscountedHosts =
    await rows(`select nodes.host from nodes left join (${claimsByHostSql(kind)}) as claimed on claimed.host = nodes.host
    where nodes.vcpus_used <> coalesce(claimed.vcpus, 0) or nodes.memory_mb_used <> coalesce(claimed.memory_mb, 0)
      or nodes.local_gb_used <> coalesce(claimed.disk_gb, 0) or nodes.servers <> coalesce(claimed.servers, 0)
    union select coalesce(counted.host, claimed.host) as host from host_resources as counted
      full join (${resourceClaimsByHostSql(kind)}) as claimed
      on claimed.host = counted.host and claimed.resource_class = counted.resource_class
    where coalesce(counted.used, 0) <> coalesce(claimed.used, 0)
    order by host`);
  if (miscountedHosts.length === 0) return goodFinding('capacity', 'the capacity counts match the claims of servers');
  const names = miscountedHosts.map(({ host }) => host).join(', ');
  return badFinding('capacity', `incorrect capacity counts, which a running server corrects within an hour: ${names}`);
}

/**
 * Checks a database while servers may use it. Changes nothing.
 *
 * @throws MaintenanceError or DatabaseUnavailable if it cannot be read
 */
export async function checkDatabase(url: string, options: CheckOptions = {}): Promise<readonly Finding[]> {
  const { tables, work } = await databaseStatus(url);
  if (tables.newestChange === null)
    return [badFinding('tables', 'there are no tables: start a server, or run migrate')];
  const reader = openReader(url);
  try {
    const { pending, newer } = tables;
    const integrity = await checkIntegrity(reader);
    return [
      pending.length > 0
        ? badFinding(
            'tables',
            `schema changes are missing (${pending.join(', ')}): run migrate, or start a server of this version`,
          )
        : goodFinding(
            'tables',
            newer.length > 0
              ? `created by a newer version (${newer.join(', ')})`
              : `up to date (${tables.newestChange})`,
          ),
      integrity,
      await checkSecrets(reader, url, options),
      // The capacity counts are checked only if the database is intact and has the tables of this version.
      ...(integrity.good && pending.length === 0 ? [await checkCapacity(reader)] : []),
      work.overdueMs > OVERDUE_MS
        ? badFinding(
            'work',
            `a job has been overdue for ${Math.round(work.overdueMs / 1000)} s, so no server is executing jobs: start one`,
          )
        : goodFinding('work', `${work.jobs} jobs, ${work.running} of them running`),
    ];
  } finally {
    await reader.close();
  }
}
