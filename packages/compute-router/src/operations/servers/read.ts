import type { Server } from '@apistrata/compute-engine';
import { at, since } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { type ComputeCall, loadHosts } from '../../http/call.js';
import { nextLink } from '../../http/paging.js';
import { operation } from '../../operation.js';
import type { RuleName } from '../../policy/index.js';
import { collectionLinks } from '../../schemas/reply-types.js';
import { serverDetail, serverSummary, shownServer } from '../../views/server.js';
import { serverTexts } from '../../views/server-field.js';
import { isUnreachable } from '../../views/server-partial.js';
import { type ServerListParameters, serverListQuery } from './list-query.js';
import { serverQueryOf } from './list-request.js';
import { serverDocs } from './server-docs.js';
import { serverById } from './target.js';

/** OpenAPI descriptions that several fields share. */
const serverListTexts = {
  servers: 'The servers on this page.',
  serversLinks: 'Link to the next page. Absent if this page is not full.',
} as const;

async function pageOf(call: ComputeCall, given: ServerListParameters, allProjectsRule: RuleName) {
  const query = serverQueryOf(call, given, allProjectsRule);
  if (!query) return { servers: [] };
  const servers = await call.engine.servers.list(call.context, query);
  return { servers, servers_links: nextLink(call, query.limit, servers, ({ id }: Server) => id) as never };
}

/**
 * Since 2.69, the response for a server on an unreachable host contains the known fields. Until 2.68, the request
 * fails.
 */
const showsPartialData = since('2.69', true);

export const readServers = [
  operation({
    ...serverDocs,
    name: 'listServers',
    method: 'GET',
    path: '/servers',
    summary: 'List servers',
    description:
      'Lists the IDs and names of servers, newest first. Since 2.69, servers in an unreachable cell are listed with partial data if the request does not contain filters (except `all_tenants`), sort keys or paging parameters.',
    policy: 'os_compute_api:servers:index',
    status: 200,
    errors: [400, 403],
    query: serverListQuery,
    reply: {
      servers: described(serverListTexts.servers, [serverSummary]),
      servers_links: described(serverListTexts.serversLinks, collectionLinks.optional()),
    },
    load: loadHosts,
    run: (call) => pageOf(call, call.query, 'os_compute_api:servers:index:get_all_tenants'),
  }),
  operation({
    ...serverDocs,
    name: 'listServersDetail',
    method: 'GET',
    path: '/servers/detail',
    summary: 'List servers with details',
    description:
      'Lists servers with details, newest first. Since 2.69, servers in an unreachable cell are listed with partial data and the status `UNKNOWN` if the request does not contain filters (except `all_tenants`), sort keys or paging parameters.',
    policy: 'os_compute_api:servers:detail',
    status: 200,
    errors: [400, 403],
    query: serverListQuery,
    reply: {
      servers: described(serverListTexts.servers, [serverDetail]),
      servers_links: described(serverListTexts.serversLinks, collectionLinks.optional()),
    },
    load: loadHosts,
    run: (call) => pageOf(call, call.query, 'os_compute_api:servers:detail:get_all_tenants'),
  }),
  operation({
    ...serverDocs,
    name: 'showServer',
    method: 'GET',
    path: '/servers/{id}',
    summary: 'Show a server',
    description:
      'Shows a server with details. Since 2.69, a server in an unreachable cell is shown with partial data and the status `UNKNOWN`.',
    policy: 'os_compute_api:servers:show',
    status: 200,
    errors: [404],
    target: serverById,
    reply: { server: described(serverTexts.server, shownServer) },
    load: loadHosts,
    run: (call) => {
      if (isUnreachable(call.target, call) && !at(showsPartialData, call.version)) {
        throw new Error(`the host of server ${call.target.id} cannot be reached`);
      }
      return { server: call.target };
    },
  }),
];
