import { isIP } from 'node:net';
import { Rejection, type Server } from '@apistrata/compute-engine';
import type { Port } from '@apistrata/compute-engine/catalogs';
import { since } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { nullableText } from '../../schemas/reply-types.js';
import { networkProxyDocs } from './proxy-docs.js';
import { proxied } from './window.js';

/** An address with its port and server. */
interface FixedAddress {
  readonly address: string;
  readonly port: Port;
  readonly server: Server | undefined;
}

const fixedIp = view<FixedAddress, ComputeCall>({
  address: described(
    'The IP address.',
    field(z.string(), ({ address }) => address),
  ),
  // The network catalog does not expose subnets.
  cidr: described(
    'Always null. Subnets are not shown.',
    field(z.null(), () => null),
  ),
  host: described(
    'Host of the server that uses the address, or null. Administrators only.',
    field(nullableText, ({ port }, call) => (call.context.isAdmin ? port.hostId || null : null)),
  ),
  hostname: described(
    'Hostname of the server, or null.',
    field(nullableText, ({ server }) => server?.hostname ?? null),
  ),
  reserved: since(
    '2.4',
    described(
      'Whether the address is reserved. Always false.',
      field(z.literal(false), () => false as const),
    ),
  ),
});

/** An unknown server is omitted; any other error is thrown. */
function unlessKnown(error: unknown): undefined {
  if (!(error instanceof Rejection)) throw error;
}

export const fixedIpProxies = [
  operation({
    ...networkProxyDocs,
    name: 'showFixedIp',
    method: 'GET',
    path: '/os-fixed-ips/{id}',
    window: proxied,
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
      const server = deviceId ? await engine.servers.get(context, deviceId).catch(unlessKnown) : undefined;
      return { fixed_ip: { address, port, server } };
    },
  }),
];
