import { isIP } from 'node:net';
import { Rejection, type Server } from '@apistrata/compute-engine';
import type { Port } from '@apistrata/compute-engine/catalogs';
import { since } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { alwaysNull, field, nullableText, text } from '../../views/fields.js';
import { networkProxyDocs } from './proxy-docs.js';

/** A fixed IP address, with the port and the server that use it. */
interface FixedAddress {
  readonly address: string;
  readonly port: Port;
  readonly server: Server | undefined;
}

const fixedIp = view<FixedAddress, ComputeCall>({
  address: text('The IP address.', ({ address }) => address),
  // The network catalog does not expose subnets.
  cidr: alwaysNull('Always null, because this API does not show subnets.'),
  host: nullableText('Host of the server that uses the address, or null. Administrators only.', ({ port }, call) =>
    call.context.isAdmin ? port.hostId || null : null,
  ),
  hostname: nullableText('Hostname of the server, or null.', ({ server }) => server?.hostname ?? null),
  reserved: since(
    '2.4',
    field('Whether the address is reserved. Always false.', z.literal(false), () => false as const),
  ),
});

/** Returns undefined if the engine rejected the request, as it does for unknown servers. Rethrows any other error. */
function ignoreUnknownServer(error: unknown): undefined {
  if (!(error instanceof Rejection)) throw error;
}

export const fixedIpProxies = [
  operation({
    ...networkProxyDocs,
    name: 'showFixedIp',
    method: 'GET',
    path: '/os-fixed-ips/{id}',
    summary: 'Show a fixed IP address',
    description: 'Shows the server that uses a fixed IP address.',
    status: 200,
    errors: [400, 404],
    reply: { fixed_ip: described('A fixed IP address.', fixedIp) },
    run: async ({ engine, caller, context, params: { id: address } }) => {
      if (isIP(address) === 0) throw new Rejection('BAD_REQUEST', `Fixed IP ${address} is not an IP address.`);
      const ports = await engine.catalogs.networks.listPorts(caller, { address });
      const port = ports.find(({ fixedIps }) => fixedIps.some((fixed) => fixed.address === address));
      if (!port) throw new Rejection('NOT_FOUND', `Fixed IP not found for address ${address}.`);
      const { deviceId } = port;
      const server = deviceId ? await engine.servers.get(context, deviceId).catch(ignoreUnknownServer) : undefined;
      return { fixed_ip: { address, port, server } };
    },
  }),
];
