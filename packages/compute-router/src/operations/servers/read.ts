import type { Server } from '@apistrata/compute-engine';
import { one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { nextLink, pageSize } from '../../http/paging.js';
import { operation } from '../../operation.js';
import { refusedFrom275 } from '../../schemas/extra-parameters.js';
import { collectionLinks } from '../../schemas/reply-types.js';
import { limitText } from '../../schemas/types.js';
import { serverDetail, serverShown, serverSummary } from '../../views/server.js';
import { serverById } from './target.js';

const listQuery = query({ limit: one(limitText), marker: one(z.string()) }, { extra: refusedFrom275 });

async function pageOf(call: ComputeCall, asked: { readonly limit?: number; readonly marker?: string }) {
  const size = pageSize(call, asked.limit);
  call.hosts = await call.engine.infrastructure.hosts();
  const servers = await call.engine.servers.list(call.context, { limit: size, marker: asked.marker });
  return { servers, servers_links: nextLink(call, size, servers, ({ id }: Server) => id) as never };
}

export const readServers = [
  operation({
    method: 'GET',
    path: '/servers',
    summary: 'List servers',
    policy: 'os_compute_api:servers:index',
    status: 200,
    errors: [400, 403],
    query: listQuery,
    reply: { servers: [serverSummary], servers_links: collectionLinks.optional() },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    method: 'GET',
    path: '/servers/detail',
    summary: 'List servers with details',
    policy: 'os_compute_api:servers:detail',
    status: 200,
    errors: [400, 403],
    query: listQuery,
    reply: { servers: [serverDetail], servers_links: collectionLinks.optional() },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    method: 'GET',
    path: '/servers/{id}',
    summary: 'Show a server',
    policy: 'os_compute_api:servers:show',
    status: 200,
    errors: [404],
    target: serverById,
    reply: { server: serverShown },
    run: async (call) => {
      call.hosts = await call.engine.infrastructure.hosts();
      return { server: call.target };
    },
  }),
];
