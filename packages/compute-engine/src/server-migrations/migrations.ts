import type { RowQuery } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Core } from '../core/core.js';
import { badRequest, notFound } from '../errors/rejection.js';
import type { MigrationRecord, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import { findMigration } from './find-migration.js';
import { migrationsInProgress } from './migrations-in-progress.js';

/** Filters for a list of migrations. A migration must match all of them. Times are in milliseconds since the epoch. */
export interface MigrationQuery {
  /** Name of the source or destination host. */
  readonly host?: string;
  readonly sourceHost?: string;
  readonly status?: string;
  readonly type?: string;
  readonly serverId?: string;
  readonly userId?: string;
  readonly projectId?: string;
  readonly changesSince?: number;
  readonly changesBefore?: number;
  readonly limit?: number;
  /** UUID of the last migration on the previous page. */
  readonly marker?: string;
  readonly newestFirst: boolean;
}

const columns = {
  sourceHost: 'source_host',
  status: 'status',
  type: 'type',
  serverId: 'server_id',
  userId: 'user_id',
  projectId: 'project_id',
} as const satisfies Partial<Record<keyof MigrationQuery, string>>;

/** Returns whether a value is a string with a NUL character, which no column contains and some databases reject. */
const containsNul = (text: unknown) => typeof text === 'string' && text.includes('\0');

/** Returns whether a query selects migrations by the index on projects or on servers. */
const usesNarrowIndex = ({ projectId, serverId }: MigrationQuery) => projectId !== undefined || serverId !== undefined;

/** Returns an SQL comparison that keeps databases from using an index on the column. */
const equalsWithoutIndex = (column: string, value: string) => sql<boolean>`${sql.ref(column)} || '' = ${value}`;

const isOnHost = (host: string) =>
  sql<boolean>`(${equalsWithoutIndex('source_host', host)} or ${equalsWithoutIndex('dest_host', host)})`;

/** Adds all filters of a migration query except `host` to an SQL query. */
function applyFilters(q: RowQuery, query: MigrationQuery): RowQuery {
  let rows = q
    .where('hidden', '=', 0)
    // The subquery is correlated, because a list of ids would contain all servers.
    .where(sql<boolean>`exists (select 1 from servers s where s.id = migrations.server_id and s.deleted = 0)`);
  for (const [name, column] of Object.entries(columns) as [keyof typeof columns, string][]) {
    const value = query[name];
    if (value === undefined) continue;
    const usesIndex = name === 'projectId' || name === 'serverId' || !usesNarrowIndex(query);
    rows = usesIndex ? rows.where(column, '=', value) : rows.where(equalsWithoutIndex(column, value));
  }
  const { changesSince, changesBefore } = query;
  if (changesSince !== undefined) rows = rows.where('updated_at', '>=', changesSince);
  return changesBefore === undefined ? rows : rows.where('updated_at', '<=', changesBefore);
}

/** Adds the sort order, the limit, and the condition that skips migrations on previous pages. */
function applyPage(
  q: RowQuery,
  { limit, newestFirst }: MigrationQuery,
  markerMigration: MigrationRecord | undefined,
): RowQuery {
  const remaining = markerMigration ? q.where('seq', newestFirst ? '<' : '>', markerMigration.seq) : q;
  const rows = remaining.orderBy('seq', newestFirst ? 'desc' : 'asc');
  return limit === undefined ? rows : rows.limit(limit);
}

/** Reads the migrations of servers between hosts. */
export class Migrations {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Lists migrations of existing servers, except hidden migrations. */
  async list(query: MigrationQuery): Promise<readonly MigrationRecord[]> {
    const { store } = this.#core;
    const { marker } = query;
    const markerMigration =
      marker === undefined || containsNul(marker) ? undefined : await tables.migrations.get(store, marker);
    if (marker !== undefined && !markerMigration) throw badRequest(`Marker ${marker} could not be found.`);
    if (Object.values(query).some(containsNul)) return [];
    return tables.migrations.find(store, (q) => this.#applyQuery(q, query, markerMigration));
  }

  #applyQuery(q: RowQuery, query: MigrationQuery, markerMigration: MigrationRecord | undefined): RowQuery {
    const { host } = query;
    if (host === undefined) return applyPage(applyFilters(q, query), query, markerMigration);
    if (usesNarrowIndex(query)) return applyPage(applyFilters(q, query).where(isOnHost(host)), query, markerMigration);
    // `source_host` and `dest_host` each have an index in page order, but a condition that joins both with "or" cannot
    // use these indexes.
    const { db } = this.#core.store;
    const selectSeqsByHost = (column: string) => {
      const rows = db.selectFrom('migrations').select('seq').where(column, '=', host) as unknown as RowQuery;
      return db.selectFrom(applyPage(applyFilters(rows, query), query, markerMigration).as(column)).select('seq');
    };
    return applyPage(
      q.where('seq', 'in', selectSeqsByHost('source_host').union(selectSeqsByHost('dest_host'))),
      query,
      undefined,
    );
  }

  /** Returns a server's live migrations that are in progress. */
  async inProgress(server: Server): Promise<readonly MigrationRecord[]> {
    return tables.migrations.find(this.#core.store, (q) =>
      q
        .where('server_id', '=', server.id)
        .where(equalsWithoutIndex('type', 'live-migration'))
        .where('status', 'in', [...migrationsInProgress])
        .orderBy('seq'),
    );
  }

  /** Returns a server's migration by the integer id that request paths contain. Throws 404 if it does not exist. */
  get(server: Server, number: string): Promise<MigrationRecord> {
    return findMigration(this.#core, server, number);
  }

  /** Returns a server's live migration by its integer id. Throws 404 unless it is in progress. */
  async getInProgress(server: Server, number: string): Promise<MigrationRecord> {
    const migration = await this.get(server, number);
    if (migration.type !== 'live-migration')
      throw notFound(`Migration ${number} for server ${server.id} is not a live-migration.`);
    if (!migrationsInProgress.includes(migration.status))
      throw notFound(`Live migration ${number} for server ${server.id} is not in progress.`);
    return migration;
  }
}
