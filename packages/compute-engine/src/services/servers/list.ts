import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest } from '../../errors.js';
import type { Server } from '../../model/index.js';
import { tables } from '../../store/tables.js';

/** Which servers, in which order, and how many. */
export interface ServerQuery {
  /** Everybody's, or those of the caller's project. */
  readonly allProjects?: boolean;
  readonly limit: number;
  /** Id of the last server of the page before. */
  readonly marker?: string;
}

/** A page of servers, newest first. The cost depends on the page, not on how many servers there are. */
export async function listServers(
  { store }: Core,
  { caller }: Context,
  query: ServerQuery,
): Promise<readonly Server[]> {
  const marker = query.marker === undefined ? undefined : await tables.servers.get(store, query.marker);
  if (query.marker !== undefined && !marker) throw badRequest(`marker [${query.marker}] not found`);
  return tables.servers.find(store, (q) => {
    let rows = q.where('deleted', '=', 0);
    if (!query.allProjects) rows = rows.where('project_id', '=', caller.projectId);
    if (marker) {
      rows = rows.where((eb) =>
        eb.or([
          eb('created_at', '<', marker.createdAt),
          eb.and([eb('created_at', '=', marker.createdAt), eb('seq', '<', marker.seq)]),
        ]),
      );
    }
    return rows.orderBy('created_at', 'desc').orderBy('seq', 'desc').limit(query.limit);
  });
}
