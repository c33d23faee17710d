import { Rejection } from '@apistrata/compute-engine';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import { addressesText, plainAddressesOf, plainAddressesSchema, plainAddressSchema } from '../../views/server-parts.js';
import { parentServer } from './target.js';

const serverAddressDocs = resource({ tag: 'server-addresses', parameters: { id: 'Label of the network.' } });

export const serverIps = [
  operation({
    ...serverAddressDocs,
    name: 'listServerAddresses',
    method: 'GET',
    path: '/servers/{server_id}/ips',
    summary: 'List the IP addresses of a server',
    description: 'Lists the IP addresses of a server, grouped by network.',
    policy: 'os_compute_api:ips:index',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { addresses: described(addressesText, plainAddressesSchema) },
    run: ({ target }) => ({ addresses: plainAddressesOf(target) }),
  }),
  operation({
    ...serverAddressDocs,
    name: 'showServerAddresses',
    method: 'GET',
    path: '/servers/{server_id}/ips/{id}',
    summary: 'List the IP addresses of a server on a network',
    description:
      'Lists the IP addresses of a server on a network. The only key in the response is the label of the network.',
    policy: 'os_compute_api:ips:show',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: z.record(z.string(), z.array(plainAddressSchema)),
    run: ({ target, params }) => {
      const addresses = plainAddressesOf(target);
      const networkAddresses = Object.hasOwn(addresses, params.id) ? addresses[params.id] : undefined;
      if (!networkAddresses) throw new Rejection('NOT_FOUND', 'Instance is not a member of specified network');
      return { [params.id]: networkAddresses };
    },
  }),
];
