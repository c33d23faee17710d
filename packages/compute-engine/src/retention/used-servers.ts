import type { Session, Stored } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { tables } from '../schema/tables.js';
import type { LaunchedServer, UsedServer } from './server-usage.js';

/** Selects servers that ran between two times in milliseconds since the epoch, excluding the end. */
export interface UsedServersQuery {
  readonly start: number;
  readonly end: number;
  /** The project of the servers. Default: all projects. */
  readonly projectId?: string;
  readonly limit: number;
  /** The last server of the previous page. */
  readonly after?: Pick<UsedServer, 'id' | 'projectId'>;
}

/** The largest time that a `Date` can represent. */
const MAX_DATE_MS = 8_640_000_000_000_000;

interface RowHead {
  readonly purged: number;
  readonly seq: number;
  readonly id: string;
  readonly revision: number;
}

/**
 * Returns a page of the servers that ran in a period, sorted by project and id: running servers, servers that ended
 * since the start of the period, and purged servers. Each kind is read through its own index, so that neither servers
 * that ended before the period nor rows of other pages are read.
 */
export async function usedServers(session: Session, query: UsedServersQuery): Promise<readonly LaunchedServer[]> {
  const { start, end, projectId, limit, after } = query;
  if (limit === 0) return [];
  // An index on the launch time would select most servers, because most were launched before the end of the period. The
  // unary plus prevents databases from using that index.
  const pageQuery = (columns: string, table: string, ended: RawBuilder<unknown>) => sql`
    select ${sql.raw(columns)} from ${sql.table(table)}
    where ${ended} and +launched_at < ${end}
      ${projectId === undefined ? sql`` : sql`and project_id = ${projectId}`}
      ${after === undefined ? sql`` : sql`and (project_id, id) > (${after.projectId}, ${after.id})`}
    order by project_id, id limit ${limit}`;
  // The upper bound excludes nothing. It makes databases without statistics use this index, because they assume that a
  // range with two bounds is small.
  const endedSince = sql`terminated_at >= ${start} and terminated_at < ${MAX_DATE_MS}`;
  // The inner query finds the rows of the page in an index, and the join reads only these rows.
  const ended = (table: 'servers' | 'server_usage') => sql`
    select ${sql.lit(Number(table === 'server_usage'))} as purged, found.seq, revision, project_id, found.id
    from (${pageQuery('seq, id', table, endedSince)}) as found join ${sql.table(table)} on ${sql.table(table)}.seq = found.seq`;
  const { rows } = await sql<RowHead>`
    select purged, seq, revision, id from (
      select * from (${pageQuery('0 as purged, seq, revision, project_id, id', 'servers', sql`terminated_at is null`)}) as running
      union all ${ended('servers')}
      union all ${ended('server_usage')}
    ) as parts order by project_id, id limit ${limit}`.execute(session.db);
  const servers = await readRecords(session, rows);
  // If a server was purged between the two reads, the next attempt finds it in the other table.
  return servers.length === rows.length ? servers : usedServers(session, query);
}

function wasLaunched(server: UsedServer): server is LaunchedServer {
  return server.launchedAt !== null;
}

async function readRecords(session: Session, heads: readonly RowHead[]): Promise<readonly LaunchedServer[]> {
  const headsOfKind = (purged: number) => heads.filter((head) => Number(head.purged) === purged);
  const indexBySeq = (servers: readonly (UsedServer & Stored)[]) =>
    new Map(servers.map((server) => [server.seq, server]));
  const existingServers = indexBySeq(await tables.servers.read(session, headsOfKind(0)));
  const purged = indexBySeq(await tables.serverUsage.read(session, headsOfKind(1)));
  return heads
    .flatMap(
      (head): UsedServer[] | UsedServer =>
        (Number(head.purged) === 1 ? purged : existingServers).get(Number(head.seq)) ?? [],
    )
    .filter(wasLaunched);
}
