import type { Network } from '@apistrata/compute-engine/catalogs';
import { described } from '@apistrata/microversion/schema';
import { type View, type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { type OperationTexts, operation } from '../../operation.js';
import { nullableText } from '../../schemas/reply-types.js';
import { alwaysNull, type Field, field, text } from '../../views/fields.js';
import { networkProxyDocs } from './proxy-docs.js';

type NetworkField = Field<Network, ComputeCall>;
type Shape = ViewShape<Network, ComputeCall>;

/** OpenAPI description of fields that only a former networking service provided. */
const removedFieldText = 'Always null. Only a former networking service used this field.';
const removedAdminField = field(removedFieldText, z.null().optional(), (_: Network, call: ComputeCall) =>
  call.context.isAdmin ? null : undefined,
);

function repeatField(names: readonly string[], value: NetworkField): Shape {
  return Object.fromEntries(names.map((name) => [name, value]));
}

const addressFields = ['netmask', 'gateway', 'broadcast', 'dns1', 'dns2', 'cidr_v6', 'gateway_v6', 'netmask_v6'];

const deploymentFields = [
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

const fieldsWithCidr = (cidr: NetworkField): Shape => ({
  id: text('UUID of the network.', ({ id }) => id),
  label: text('Name of the network.', ({ name }) => name),
  cidr,
});

const network = view<Network, ComputeCall>({
  ...fieldsWithCidr(alwaysNull('Always null, because this API does not show subnets.')),
  ...repeatField(addressFields, alwaysNull(removedFieldText)),
  ...repeatField(deploymentFields, removedAdminField),
  project_id: field(
    'ID of the project that owns the network, or null. Administrators only.',
    nullableText.optional(),
    ({ projectId }, call) => (call.context.isAdmin ? projectId : undefined),
  ),
  mtu: field('Maximum transmission unit, in bytes. Administrators only.', z.int().optional(), ({ mtu }, call) =>
    call.context.isAdmin ? mtu : undefined,
  ),
});

const tenantNetwork = view(
  fieldsWithCidr(
    field(
      'Always the string `None`, because this API does not show subnets.',
      z.literal('None'),
      () => 'None' as const,
    ),
  ),
);

interface ReadOperations {
  readonly resource: 'os-networks' | 'os-tenant-networks';
  readonly networkView: View<Network, ComputeCall>;
  readonly list: Pick<OperationTexts, 'name' | 'description'>;
  readonly show: Pick<OperationTexts, 'name' | 'description'>;
}

function readOperations({ resource, networkView, list, show }: ReadOperations) {
  return [
    operation({
      ...networkProxyDocs,
      ...list,
      method: 'GET',
      path: `/${resource}`,
      summary: `List networks (${resource})`,
      policy: `os_compute_api:${resource}:list`,
      status: 200,
      reply: { networks: described('The list of networks.', [networkView]) },
      run: async ({ engine, caller }) => ({ networks: await engine.catalogs.networks.listNetworks(caller) }),
    }),
    operation({
      ...networkProxyDocs,
      ...show,
      method: 'GET',
      path: `/${resource}/{id}`,
      summary: `Show a network (${resource})`,
      policy: `os_compute_api:${resource}:show`,
      status: 200,
      errors: [404],
      reply: { network: described('A network.', networkView) },
      run: async ({ engine, caller, params }) => ({
        network: await engine.catalogs.networks.getNetwork(caller, params.id),
      }),
    }),
  ];
}

export const networkProxies = [
  ...readOperations({
    resource: 'os-networks',
    networkView: network,
    list: {
      name: 'listNetworks',
      description: 'Lists the networks of the project. Fields that only a former networking service provided are null.',
    },
    show: { name: 'showNetwork', description: 'Shows a network.' },
  }),
  ...readOperations({
    resource: 'os-tenant-networks',
    networkView: tenantNetwork,
    list: { name: 'listTenantNetworks', description: 'Lists the networks of the project without details.' },
    show: { name: 'showTenantNetwork', description: 'Shows a network without details.' },
  }),
];
