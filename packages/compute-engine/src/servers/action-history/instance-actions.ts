import { compoundKey, hotFind } from '@apistrata/record-store';
import type { Core } from '../../core/core.js';
import { badRequest, notFound } from '../../errors/rejection.js';
import type { InstanceAction } from '../../model/index.js';
import { tables } from '../../schema/tables.js';

export interface ActionQuery {
  readonly limit?: number;
  /** Request id of the last action on the previous page. */
  readonly marker?: string;
  readonly changesSince?: number;
  readonly changesBefore?: number;
}

/** The page size if a list request has no limit. */
const UNLIMITED_PAGE_SIZE = 2 ** 31 - 1;

/** Reads a server's newest actions. Parameters: the server id and the limit. */
const findNewestOfServer = hotFind(tables.actions, (rows) =>
  rows.where('server_id', '=', '').orderBy('seq', 'desc').limit(0),
);

/** Reads the action history of servers. */
export class InstanceActions {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  async get(serverId: string, requestId: string): Promise<InstanceAction> {
    const action = await tables.actions.get(this.#core.store, compoundKey(serverId, requestId));
    if (!action) throw notFound(`Action for request_id ${requestId} on instance ${serverId} not found`);
    return action;
  }

  /** Lists a server's actions, newest first. */
  async list(serverId: string, query: ActionQuery = {}): Promise<readonly InstanceAction[]> {
    const { store } = this.#core;
    const { marker, limit, changesSince, changesBefore } = query;
    const markerAction =
      marker === undefined ? undefined : await tables.actions.get(store, compoundKey(serverId, marker));
    if (marker !== undefined && !markerAction) throw badRequest(`marker [${marker}] not found`);
    const isFiltered = markerAction !== undefined || changesSince !== undefined || changesBefore !== undefined;
    if (!isFiltered) return findNewestOfServer(store, [serverId, limit ?? UNLIMITED_PAGE_SIZE]);
    return tables.actions.find(store, (q) => {
      let rows = q.where('server_id', '=', serverId).orderBy('seq', 'desc');
      if (markerAction) rows = rows.where('seq', '<', markerAction.seq);
      if (changesSince !== undefined) rows = rows.where('updated_at', '>=', changesSince);
      if (changesBefore !== undefined) rows = rows.where('updated_at', '<=', changesBefore);
      return limit === undefined ? rows : rows.limit(limit);
    });
  }
}
