import { until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { isStorable, STORABLE_RULE } from '../../schemas/storable-text.js';
import * as type from '../../schemas/types.js';
import { serverAction } from './server-docs.js';

const window = until('2.43', true);

const networkId = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().min(1).max(36))
  .refine(isStorable, STORABLE_RULE);

const floatingAddress = described('The floating IP address.', type.ip);

/** Server actions that add and remove IP addresses. Since 2.44, clients use the networking service instead. */
export const networkActions = [
  operation({
    ...serverAction,
    name: 'addServerFixedIp',
    action: 'addFixedIp',
    window,
    summary: 'Add a fixed IP address to a server',
    description:
      'Adds a fixed IP address on a network to a server. Synchronous. Replaced by the operations that attach ports.',
    policy: 'os_compute_api:os-multinic:add',
    errors: [400, 404, 409],
    body: object({
      addFixedIp: described(
        'The fixed IP address to add.',
        object({ networkId: described('UUID of the network.', networkId) }),
      ),
    }),
    run: ({ engine, context, target, body }) =>
      engine.interfaces.addFixedIp(context, target, body.addFixedIp.networkId),
  }),
  operation({
    ...serverAction,
    name: 'removeServerFixedIp',
    action: 'removeFixedIp',
    window,
    summary: 'Remove a fixed IP address from a server',
    description: 'Removes a fixed IP address from a server. Synchronous. Replaced by the operations that detach ports.',
    policy: 'os_compute_api:os-multinic:remove',
    errors: [400, 404, 409],
    body: object({
      removeFixedIp: described(
        'The fixed IP address to remove.',
        object({ address: described('The IP address.', type.ip) }),
      ),
    }),
    run: ({ engine, context, target, body }) =>
      engine.interfaces.removeFixedIp(context, target, body.removeFixedIp.address),
  }),
  operation({
    ...serverAction,
    name: 'addServerFloatingIp',
    action: 'addFloatingIp',
    window,
    summary: 'Associate a floating IP address with a server',
    description: 'Associates a floating IP address with a server. Synchronous. Replaced by the networking service.',
    policy: 'os_compute_api:os-floating-ips:add',
    errors: [400, 403, 404],
    body: object({
      addFloatingIp: described(
        'The floating IP address to associate.',
        object({
          address: floatingAddress,
          fixed_address: described(
            'Fixed IP address with which the floating IP address is associated. Default: the first fixed IPv4 address of the server.',
            type.ip.optional(),
          ),
        }),
      ),
    }),
    run: ({ engine, context, target, body: { addFloatingIp } }) =>
      engine.serverNetwork.addFloatingIp(context, target, addFloatingIp.address, addFloatingIp.fixed_address),
  }),
  operation({
    ...serverAction,
    name: 'removeServerFloatingIp',
    action: 'removeFloatingIp',
    window,
    summary: 'Disassociate a floating IP address from a server',
    description: 'Disassociates a floating IP address from a server. Synchronous. Replaced by the networking service.',
    policy: 'os_compute_api:os-floating-ips:remove',
    errors: [400, 403, 404, 409],
    when: { 409: 'The address is not associated with this server.' },
    body: object({
      removeFloatingIp: described('The floating IP address to disassociate.', object({ address: floatingAddress })),
    }),
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.removeFloatingIp(context, target, body.removeFloatingIp.address),
  }),
];
