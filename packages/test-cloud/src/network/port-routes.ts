import type { EmbeddedCatalogs, FixedIpRequest, PortChange } from '@apistrata/compute-engine';
import type { Route } from '../service/route.js';
import { envelope, NEW_PORT, PORT } from './network-bodies.js';
import { portView } from './network-views.js';
import { renamed } from './renamed.js';
import { resource } from './resource.js';

type Networks = () => EmbeddedCatalogs['networks'];

interface WireFixedIp {
  readonly ip_address?: string;
  readonly subnet_id?: string;
}

const requestOf = ({ ip_address: address, subnet_id: subnetId }: WireFixedIp): FixedIpRequest => ({
  address,
  subnetId,
});

function changeOf(
  body: Readonly<Record<string, unknown>> & { readonly fixed_ips?: readonly WireFixedIp[] },
): PortChange {
  return { ...renamed<PortChange>(body), ...(body.fixed_ips && { fixedIps: body.fixed_ips.map(requestOf) }) };
}

/** Ports: those of servers appear and vanish with them. */
export function portRoutes(networks: Networks): readonly Route[] {
  return resource({
    path: 'ports',
    many: 'ports',
    one: 'port',
    body: envelope('port', NEW_PORT),
    change: envelope('port', PORT),
    list: async ({ caller, isAdmin, query }) => {
      const devices = query.getAll('device_id');
      const networkIds = query.getAll('network_id');
      const found = await networks().listPorts(caller, {
        deviceIds: devices.length > 0 ? devices : undefined,
        networkId: networkIds.length === 1 ? networkIds[0] : undefined,
      });
      return found.map((port) => portView(port, isAdmin));
    },
    show: async ({ caller, isAdmin }, id) => portView(await networks().getPort(caller, id), isAdmin),
    create: async ({ caller, isAdmin }, body) => {
      const { network_id: networkId } = body;
      return portView(await networks().createPort(caller, { ...changeOf(body), networkId }), isAdmin);
    },
    update: async ({ caller, isAdmin }, id, body) =>
      portView(await networks().updatePort(caller, id, changeOf(body)), isAdmin),
    remove: ({ caller }, id) => networks().deletePort(caller, id),
    setTags: ({ caller }, id, tags) => networks().updatePort(caller, id, { tags }),
  });
}
