import { Refusal, type Server } from '@apistrata/compute-engine';
import { object } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { serverUpdated } from '../../views/server.js';
import { fieldsOf, keptOf } from '../../views/server-fields.js';
import { zoneOf } from '../../views/server-parts.js';
import { serverById } from './target.js';

const body = object({ server: object(fieldsOf('update')) });

/** Null unpins. Pinning takes a server that is not pinned, and the zone that it is in. */
function pinnedZone(server: Server, asked: string | null | undefined, call: ComputeCall): string | null {
  if (asked === undefined) return server.pinnedZone;
  if (asked === null) return null;
  if (server.pinnedZone !== null) {
    throw new Refusal('CONFLICT', `Server ${server.id} is pinned to availability zone ${server.pinnedZone} already.`);
  }
  const zone = zoneOf(server, call);
  if (zone !== asked) {
    throw new Refusal(
      'CONFLICT',
      `Server ${server.id} is not in availability zone ${asked}: it cannot be pinned to it.`,
    );
  }
  return asked;
}

export const changeServers = [
  operation({
    method: 'PUT',
    path: '/servers/{id}',
    summary: 'Update a server',
    policy: 'os_compute_api:servers:update',
    status: 200,
    errors: [404, 409],
    body,
    target: serverById,
    reply: { server: serverUpdated },
    run: async (call) => {
      const { server: s } = call.body;
      call.hosts = await call.engine.infrastructure.hosts();
      const server = await call.engine.servers.change(call.context, call.target.id, 'update', (current) => ({
        ...keptOf(s),
        pinnedZone: pinnedZone(current, s.pinned_availability_zone, call),
      }));
      return { server };
    },
  }),
  operation({
    method: 'DELETE',
    path: '/servers/{id}',
    summary: 'Delete a server',
    policy: 'os_compute_api:servers:delete',
    status: 204,
    errors: [404, 409],
    target: serverById,
    run: ({ engine, context, target }) => engine.servers.delete(context, target.id),
  }),
];
