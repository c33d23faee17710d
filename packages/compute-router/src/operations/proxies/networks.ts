import type { Network } from '@apistrata/compute-engine/catalogs';
import { field, type View, type ViewField, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { type OperationTexts, operation } from '../../operation.js';
import { nullableText } from '../../schemas/reply-types.js';
import { networkProxyDocs } from './proxy-docs.js';
import { proxied } from './window.js';

type Field = ViewField<Network, ComputeCall>;
type Shape = ViewShape<Network, ComputeCall>;

/** Attributes of older networks that the network service does not have. */
const nothing: Field = field(z.null(), () => null);
const nullForAdmins: Field = field(z.null().optional(), (_, call) => (call.context.isAdmin ? null : undefined));

function all(names: readonly string[], value: Field): Shape {
  const removed = described('Always null. Field of a removed networking service.', value);
  return Object.fromEntries(names.map((name) => [name, removed]));
}

const addressing = ['netmask', 'gateway', 'broadcast', 'dns1', 'dns2', 'cidr_v6', 'gateway_v6', 'netmask_v6'];

const deployment = [
  'created_at',
  'updated_at',
  'deleted_at',
  'deleted',
  'injected',
  'bridge',
  'bridge_interface',
  'vlan',
  'vpn_public_address',
  'vpn_public_port',
  'vpn_private_address',
  'dhcp_start',
  'dhcp_server',
  'enable_dhcp',
  'share_address',
  'host',
  'multi_host',
  'priority',
  'rxtx_base',
];

const withCidr = (cidr: Field): Shape => ({
  id: described(
    'UUID of the network.',
    field(z.string(), ({ id }) => id),
  ),
  label: described(
    'Name of the network.',
    field(z.string(), ({ name }) => name),
  ),
  cidr: described('Addresses of the network in CIDR notation, or null.', cidr),
});

const network = view<Network, ComputeCall>({
  ...withCidr(nothing),
  ...all(addressing, nothing),
  ...all(deployment, nullForAdmins),
  project_id: described(
    'ID of the project that owns the network, or null. Administrators only.',
    field(nullableText.optional(), ({ projectId }, call) => (call.context.isAdmin ? projectId : undefined)),
  ),
  mtu: described(
    'Maximum transmission unit, in bytes. Administrators only.',
    field(z.int().optional(), ({ mtu }, call) => (call.context.isAdmin ? mtu : undefined)),
  ),
});

const tenantNetwork = view(withCidr(field(z.literal('None'), () => 'None' as const)));

interface Reads {
  readonly resource: 'os-networks' | 'os-tenant-networks';
  readonly shown: View<Network, ComputeCall>;
  readonly list: Pick<OperationTexts, 'name' | 'description'>;
  readonly show: Pick<OperationTexts, 'name' | 'description'>;
}

function reads({ resource, shown, list, show }: Reads) {
  return [
    operation({
      ...networkProxyDocs,
      ...list,
      method: 'GET',
      path: `/${resource}`,
      window: proxied,
      summary: `List networks (${resource})`,
      policy: `os_compute_api:${resource}:list`,
      status: 200,
      reply: { networks: described('The list of networks.', [shown]) },
      run: async ({ engine, caller }) => ({ networks: await engine.catalogs.networks.listNetworks(caller) }),
    }),
    operation({
      ...networkProxyDocs,
      ...show,
      method: 'GET',
      path: `/${resource}/{id}`,
      window: proxied,
      summary: `Show a network (${resource})`,
      policy: `os_compute_api:${resource}:show`,
      status: 200,
      errors: [404],
      reply: { network: described('A network.', shown) },
      run: async ({ engine, caller, params }) => ({
        network: await engine.catalogs.networks.getNetwork(caller, params.id),
      }),
    }),
  ];
}

export const networkProxies = [
  ...reads({
    resource: 'os-networks',
    shown: network,
    list: {
      name: 'listNetworks',
      description: 'Lists the networks of the project. Fields of the removed networking service are null.',
    },
    show: { name: 'showNetwork', description: 'Shows a network.' },
  }),
  ...reads({
    resource: 'os-tenant-networks',
    shown: tenantNetwork,
    list: { name: 'listTenantNetworks', description: 'Lists the networks of the project without details.' },
    show: { name: 'showTenantNetwork', description: 'Shows a network without details.' },
  }),
];
