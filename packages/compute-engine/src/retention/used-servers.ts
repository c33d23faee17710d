import type { Session, Stored } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { tables } from '../schema/tables.js';
import type { RunServer, UsedServer } from './server-usage.js';

/** Selects servers that ran between two times in milliseconds since the epoch, excluding the end. */
export interface UsedServersQuery {
  readonly start: number;
  readonly end: number;
  /** Default: all projects. */
  readonly projectId?: string;
  readonly limit: number;
  /** The last server of the previous page. */
  readonly after?: Pick<UsedServer, 'id' | 'projectId'>;
}

/** The largest representable time. */
const LAST_MS = 8_640_000_000_000_000;

interface Head {
  readonly purged: number;
  readonly seq: number;
  readonly id: string;
  readonly revision: number;
}

/**
 * Returns a page of the servers that ran in a period, by project and id: running ones, those that ended since its start, and
 * purged ones. Each part has its own index, so servers that ended earlier cost nothing, and only rows of the page are read.
 */
export async function usedServers(session: Session, query: UsedServersQuery): Promise<readonly RunServer[]> {
  const { start, end, projectId, limit, after } = query;
  if (limit === 0) return [];
  // The unary sign prevents databases from using an index on the time of the launch: most servers were launched before
  // the end of the period.
  const page = (columns: string, table: string, ended: RawBuilder<unknown>) => sql`
    select ${sql.raw(columns)} from ${sql.table(table)}
    where ${ended} and +launched_at < ${end}
      ${projectId === undefined ? sql`` : sql`and project_id = ${projectId}`}
      ${after === undefined ? sql`` : sql`and (project_id, id) > (${after.projectId}, ${after.id})`}
    order by project_id, id limit ${limit}`;
  // Without statistics, databases estimate a range with two bounds as small.
  const since = sql`terminated_at >= ${start} and terminated_at < ${LAST_MS}`;
  // The index selects the rows of the page, but not in their order, so rows of later pages are not read.
  const ended = (table: 'servers' | 'server_usage') => sql`
    select ${sql.lit(Number(table === 'server_usage'))} as purged, found.seq, revision, project_id, found.id
    from (${page('seq, id', table, since)}) as found join ${sql.table(table)} on ${sql.table(table)}.seq = found.seq`;
  const { rows } = await sql<Head>`
    select purged, seq, revision, id from (
      select * from (${page('0 as purged, seq, revision, project_id, id', 'servers', sql`terminated_at is null`)}) as running
      union all ${ended('servers')}
      union all ${ended('server_usage')}
    ) as parts order by project_id, id limit ${limit}`.execute(session.db);
  const servers = await recordsOf(session, rows);
  // A server that was purged between the two reads is found in its new place.
  return servers.length === rows.length ? servers : usedServers(session, query);
}

function wasLaunched(server: UsedServer): server is RunServer {
  return server.launchedAt !== null;
}

async function recordsOf(session: Session, heads: readonly Head[]): Promise<readonly RunServer[]> {
  const ofKind = (purged: number) => heads.filter((head) => Number(head.purged) === purged);
  const bySeq = (servers: readonly (UsedServer & Stored)[]) => new Map(servers.map((server) => [server.seq, server]));
  const remaining = bySeq(await tables.servers.read(session, ofKind(0)));
  const purged = bySeq(await tables.serverUsage.read(session, ofKind(1)));
  return heads
    .flatMap(
      (head): UsedServer[] | UsedServer => (Number(head.purged) === 1 ? purged : remaining).get(Number(head.seq)) ?? [],
    )
    .filter(wasLaunched);
}
