import { Rejection, type Server } from '@apistrata/compute-engine';
import type { AttachedPort } from '@apistrata/compute-engine/api';
import { at, since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { derive, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { interfaceDocs } from './server-devices.docs.js';
import { parentServer } from './target.js';

const all = '/servers/{server_id}/os-interface';
const one = '/servers/{server_id}/os-interface/{id}';

const attached = view<AttachedPort, ComputeCall>({
  fixed_ips: field(z.array(z.strictObject({ ip_address: z.string(), subnet_id: z.string() })).nullable(), ({ port }) =>
    port.fixedIps.map(({ address, subnetId }) => ({ ip_address: address, subnet_id: subnetId })),
  ),
  mac_addr: field(z.string(), ({ port }) => port.mac),
  net_id: field(z.string(), ({ port }) => port.networkId),
  port_id: field(z.string(), ({ port }) => port.id),
  port_state: field(z.string(), ({ port }) => port.status),
  tag: since(
    '2.70',
    field(z.string().nullable(), (interface_) => interface_.tag),
  ),
});

const newInterface = object({
  net_id: type.uuid.optional(),
  port_id: type.uuid.optional(),
  fixed_ips: z
    .array(z.strictObject({ ip_address: type.ip }))
    .min(1)
    .max(1)
    .optional(),
  tag: since('2.49', type.tag.optional()),
});

const RESOURCE_REQUESTS = since('2.72', true);

type Interface = Server['interfaces'][number];

const virtual = view<Interface, ComputeCall>({
  id: field(z.string(), ({ portId }) => portId),
  mac_address: field(z.string(), ({ mac }) => mac),
  net_id: since(
    '2.12',
    field(z.string(), ({ networkId }) => networkId),
  ),
});

export const serverInterfaces = [
  operation({
    ...interfaceDocs,
    name: 'listServerInterfaces',
    method: 'GET',
    path: all,
    summary: 'List the port interfaces of a server',
    description: 'Lists the ports of a server.',
    policy: 'os_compute_api:os-attach-interfaces:list',
    status: 200,
    errors: [404, 501],
    target: parentServer,
    reply: { interfaceAttachments: [attached] },
    run: async ({ engine, context, target }) => ({
      interfaceAttachments: await engine.interfaces.list(context, target),
    }),
  }),
  operation({
    ...interfaceDocs,
    name: 'createServerInterface',
    method: 'POST',
    path: all,
    summary: 'Attach a port interface to a server',
    description:
      'Attaches a port to a server: an existing port, or a new one on a network. Synchronous: the response is sent after the port is attached. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
    policy: ['os_compute_api:os-attach-interfaces:create', 'os_compute_api:os-attach-interfaces:show'],
    status: 200,
    errors: [400, 403, 404, 409, 500, 501],
    body: object({
      interfaceAttachment: derive(newInterface, (schema) => schema.optional()),
    }),
    target: parentServer,
    reply: { interfaceAttachment: attached },
    run: async (call) => {
      const requested = call.body.interfaceAttachment ?? {};
      if (requested.net_id && requested.port_id)
        throw new Rejection('BAD_REQUEST', 'Must not input both network_id and port_id');
      if (requested.fixed_ips && !requested.net_id)
        throw new Rejection('BAD_REQUEST', 'Must input network_id when request IP address');
      return {
        interfaceAttachment: await call.engine.servers.act(call.context, call.target.id, 'attachInterface', {
          networkId: requested.net_id,
          portId: requested.port_id,
          address: requested.fixed_ips?.[0]?.ip_address,
          tag: requested.tag,
          toExternal: call.can('network:attach_external_network'),
          resourceRequests: at(RESOURCE_REQUESTS, call.version) ?? false,
        }),
      };
    },
  }),
  operation({
    ...interfaceDocs,
    name: 'showServerInterface',
    method: 'GET',
    path: one,
    summary: 'Show a port interface of a server',
    description: 'Shows a port of a server.',
    policy: 'os_compute_api:os-attach-interfaces:show',
    status: 200,
    errors: [403, 404],
    target: parentServer,
    reply: { interfaceAttachment: attached },
    run: async ({ engine, context, target, params }) => ({
      interfaceAttachment: await engine.interfaces.get(context, target, params.id),
    }),
  }),
  operation({
    ...interfaceDocs,
    name: 'deleteServerInterface',
    method: 'DELETE',
    path: one,
    summary: 'Detach a port interface from a server',
    description:
      'Detaches a port from a server. Asynchronous: poll the list of ports. A port that was created for the server is deleted; other ports are kept. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
    policy: 'os_compute_api:os-attach-interfaces:delete',
    status: 202,
    errors: [400, 404, 409, 501],
    target: parentServer,
    run: ({ engine, context, target, params }) =>
      engine.servers.act(context, target.id, 'detachInterface', { portId: params.id }),
  }),
  operation({
    ...interfaceDocs,
    name: 'listServerVirtualInterfaces',
    method: 'GET',
    path: '/servers/{server_id}/os-virtual-interfaces',
    window: until('2.43', true),
    summary: 'List the virtual interfaces of a server',
    description: 'Lists the virtual interfaces of a server. Replaced by the list of ports.',
    policy: 'os_compute_api:os-attach-interfaces:list',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { virtual_interfaces: [virtual] },
    run: ({ target }) => ({ virtual_interfaces: target.interfaces }),
  }),
];
