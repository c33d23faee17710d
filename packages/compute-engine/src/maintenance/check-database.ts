import { existsSync } from 'node:fs';
import { Payloads } from '../jobs/payloads.js';
import { claimsByHost } from '../scheduler/claims-by-host.js';
import { type SecretKeyOptions, sealerFor } from '../secrets/sealer-for.js';
import { type DatabaseReader, isPostgres, openReader } from './database-reader.js';
import { databaseStatus } from './database-status.js';

/** What came of one question. */
export interface Finding {
  readonly what: 'tables' | 'integrity' | 'secrets' | 'capacity' | 'work';
  readonly good: boolean;
  /** One line, with the cure where it is not good. */
  readonly told: string;
}

/** Where the keys are that open what is sealed. */
export type CheckOptions = SecretKeyOptions;

/** Work that nobody took up for so long will not be without help. */
const OVERDUE_MS = 30_000;

const good = (what: Finding['what'], told: string): Finding => ({ what, good: true, told });
const bad = (what: Finding['what'], told: string): Finding => ({ what, good: false, told });

async function integrityOf({ kind, rows }: DatabaseReader): Promise<Finding> {
  if (kind === 'sqlite') {
    const faults = (await rows('PRAGMA integrity_check(5)')).map(({ integrity_check }) => String(integrity_check));
    if (faults.length === 1 && faults[0] === 'ok') return good('integrity', 'the file is whole');
    return bad('integrity', `the file is damaged, restore a backup: ${faults.join('; ')}`);
  }
  const broken = await rows(`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace where not i.indisvalid and n.nspname = current_schema()`);
  if (broken.length === 0) return good('integrity', 'all indexes are valid');
  return bad('integrity', `not valid, REINDEX them: ${broken.map(({ name }) => name).join(', ')}`);
}

async function secretsOf({ rows }: DatabaseReader, url: string, options: SecretKeyOptions): Promise<Finding> {
  const jobs = (await rows('select id, payload from jobs')).filter(({ payload }) => 'sealed' in JSON.parse(payload));
  if (jobs.length === 0) return good('secrets', 'nothing is sealed at the moment');
  // Where there is no key, none is made: it would open nothing.
  const beside = isPostgres(url) || process.env.APISTRATA_SECRET_KEY ? undefined : `${url}.key`;
  const file = options.secretKey === undefined ? (options.secretKeyFile ?? beside) : undefined;
  if (file !== undefined && !existsSync(file))
    return bad('secrets', `${jobs.length} jobs are sealed, and their key ${file} is not there: bring it back`);
  try {
    const payloads = new Payloads(await sealerFor(url, options), { keepTokens: true });
    const closed = jobs.map(({ id, payload }) => payloads.read(id, payload).unreadable).filter((e) => e !== undefined);
    const [first] = closed;
    if (!first) return good('secrets', `all of ${jobs.length} sealed jobs open with the key`);
    return bad('secrets', `${closed.length} of ${jobs.length} sealed jobs do not open: ${first.message}`);
  } catch (error) {
    return bad('secrets', `${jobs.length} jobs are sealed, and there is no key: ${(error as Error).message}`);
  }
}

/** Compares what is counted of hosts with what servers have claimed, at one moment. */
async function capacityOf({ kind, rows }: DatabaseReader): Promise<Finding> {
  const wrong =
    await rows(`select nodes.host from nodes left join (${claimsByHost(kind)}) as claimed on claimed.host = nodes.host
    where nodes.vcpus_used <> coalesce(claimed.vcpus, 0) or nodes.memory_mb_used <> coalesce(claimed.memory_mb, 0)
      or nodes.local_gb_used <> coalesce(claimed.disk_gb, 0) or nodes.servers <> coalesce(claimed.servers, 0)
    order by nodes.host`);
  if (wrong.length === 0) return good('capacity', 'hosts are counted as servers have claimed');
  const names = wrong.map(({ host }) => host).join(', ');
  return bad('capacity', `counted wrong, which a server that runs corrects within an hour: ${names}`);
}

/**
 * Looks a database over, beside the servers that use it. Nothing is changed. Throws `OperatingError` and
 * `DatabaseUnavailable` when it cannot be read.
 */
export async function checkDatabase(url: string, options: CheckOptions = {}): Promise<readonly Finding[]> {
  const { tables, work } = await databaseStatus(url);
  if (tables.at === null) return [bad('tables', 'there are none: start a server, or migrate')];
  const reader = openReader(url);
  try {
    const { pending, newer } = tables;
    const integrity = await integrityOf(reader);
    return [
      pending.length > 0
        ? bad('tables', `${pending.join(', ')} is missing: migrate, or start a server of this version`)
        : good(
            'tables',
            newer.length > 0 ? `made by a newer version (${newer.join(', ')})` : `up to date (${tables.at})`,
          ),
      integrity,
      await secretsOf(reader, url, options),
      // What is damaged cannot be counted.
      ...(integrity.good ? [await capacityOf(reader)] : []),
      work.overdueMs > OVERDUE_MS
        ? bad('work', `a job has been due for ${Math.round(work.overdueMs / 1000)} s: no server works, start one`)
        : good('work', `${work.jobs} jobs, ${work.running} of them running`),
    ];
  } finally {
    await reader.close();
  }
}
