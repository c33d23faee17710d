import { Rejection, type Server } from '@apistrata/compute-engine';
import type { AttachedPort } from '@apistrata/compute-engine/api';
import { at, since, until } from '@apistrata/microversion';
import { derive, described, object } from '@apistrata/microversion/schema';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import * as type from '../../schemas/types.js';
import { field, nullableText, text } from '../../views/fields.js';
import { parentServer } from './target.js';

const interfaceDocs = resource({
  tag: 'interfaces',
  parameters: { id: 'UUID of the port.' },
  when: {
    409: 'The state of the server does not allow the operation, the server is locked, or another server uses the port.',
    501: 'The driver does not support changing the interfaces of a running server, or the cloud does not have a networking service.',
  },
});

/** OpenAPI descriptions that several fields share. */
export const interfaceTexts = {
  fixedIps: 'Fixed IP addresses. In requests, at most one, and only together with a network.',
  macAddr: 'MAC address.',
  netId: 'UUID of the network.',
  portId: 'UUID of the port.',
  fixedIpsIpAddress: 'The IP address.',
  interfaceAttachment: 'A port.',
} as const;

const listPath = '/servers/{server_id}/os-interface';
const itemPath = '/servers/{server_id}/os-interface/{id}';

const attachedPortView = view<AttachedPort, ComputeCall>({
  fixed_ips: field(
    interfaceTexts.fixedIps,
    z
      .array(
        z.strictObject({
          ip_address: z.string().describe(interfaceTexts.fixedIpsIpAddress),
          subnet_id: z.string().describe('UUID of the subnet.'),
        }),
      )
      .nullable(),
    ({ port }) => port.fixedIps.map(({ address, subnetId }) => ({ ip_address: address, subnet_id: subnetId })),
  ),
  mac_addr: text(interfaceTexts.macAddr, ({ port }) => port.mac),
  net_id: text(interfaceTexts.netId, ({ port }) => port.networkId),
  port_id: text(interfaceTexts.portId, ({ port }) => port.id),
  port_state: text('Status of the port: `ACTIVE`, `DOWN`, `BUILD` or `ERROR`.', ({ port }) => port.status),
  tag: since(
    '2.70',
    nullableText(
      'Device tag, or null. The guest can read it from the server metadata.',
      (attachedPort) => attachedPort.tag,
    ),
  ),
});

const newInterface = object({
  net_id: described(interfaceTexts.netId, type.uuid.optional()),
  port_id: described(interfaceTexts.portId, type.uuid.optional()),
  fixed_ips: described(
    interfaceTexts.fixedIps,
    z
      .array(z.strictObject({ ip_address: type.ip.describe(interfaceTexts.fixedIpsIpAddress) }))
      .min(1)
      .max(1)
      .optional(),
  ),
  tag: since('2.49', described('Device tag. The guest can read it from the server metadata.', type.tag.optional())),
});

const allowsResourceRequests = since('2.72', true);

type Interface = Server['interfaces'][number];

const virtualInterfaceView = view<Interface, ComputeCall>({
  id: text('UUID of the interface.', ({ portId }) => portId),
  mac_address: text(interfaceTexts.macAddr, ({ mac }) => mac),
  net_id: since(
    '2.12',
    text(interfaceTexts.netId, ({ networkId }) => networkId),
  ),
});

export const serverInterfaces = [
  operation({
    ...interfaceDocs,
    name: 'listServerInterfaces',
    method: 'GET',
    path: listPath,
    summary: 'List the ports of a server',
    description: 'Lists the ports of a server.',
    policy: 'os_compute_api:os-attach-interfaces:list',
    status: 200,
    errors: [404, 501],
    target: parentServer,
    reply: { interfaceAttachments: described('The list of ports.', [attachedPortView]) },
    run: async ({ engine, context, target }) => ({
      interfaceAttachments: await engine.interfaces.list(context, target),
    }),
  }),
  operation({
    ...interfaceDocs,
    name: 'createServerInterface',
    method: 'POST',
    path: listPath,
    summary: 'Attach a port to a server',
    description:
      'Attaches a port to a server: either an existing port, or a new port on a network. The operation is synchronous: the response is sent after the port is attached. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
    policy: ['os_compute_api:os-attach-interfaces:create', 'os_compute_api:os-attach-interfaces:show'],
    status: 200,
    errors: [400, 403, 404, 409, 500, 501],
    body: object({
      interfaceAttachment: described(
        interfaceTexts.interfaceAttachment,
        derive(newInterface, (schema) => schema.optional()),
      ),
    }),
    target: parentServer,
    reply: { interfaceAttachment: described(interfaceTexts.interfaceAttachment, attachedPortView) },
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
          resourceRequests: at(allowsResourceRequests, call.version) ?? false,
        }),
      };
    },
  }),
  operation({
    ...interfaceDocs,
    name: 'showServerInterface',
    method: 'GET',
    path: itemPath,
    summary: 'Show a port of a server',
    description: 'Shows a port of a server.',
    policy: 'os_compute_api:os-attach-interfaces:show',
    status: 200,
    errors: [403, 404],
    target: parentServer,
    reply: { interfaceAttachment: described(interfaceTexts.interfaceAttachment, attachedPortView) },
    run: async ({ engine, context, target, params }) => ({
      interfaceAttachment: await engine.interfaces.get(context, target, params.id),
    }),
  }),
  operation({
    ...interfaceDocs,
    name: 'deleteServerInterface',
    method: 'DELETE',
    path: itemPath,
    summary: 'Detach a port from a server',
    description:
      'Detaches a port from a server. The operation is asynchronous; poll the list of ports until it no longer contains the port. If the port was created for the server, it is deleted; other ports are kept. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
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
    description: 'Lists the virtual interfaces of a server. This operation was replaced by the list of ports.',
    policy: 'os_compute_api:os-attach-interfaces:list',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { virtual_interfaces: described('The list of virtual interfaces.', [virtualInterfaceView]) },
    run: ({ target }) => ({ virtual_interfaces: target.interfaces }),
  }),
];
