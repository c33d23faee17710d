import type { FixedIpRequest, PortChange } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { dictionary, flag, text } from '../service/wire-types.js';
import { floatingIpPorts } from './floating-ip-ports.js';
import { networkError } from './network-errors.js';
import { notAllowedError } from './network-style.js';
import { portView } from './network-views.js';
import { removeForwardingsTo } from './port-forwardings.js';
import { rejectMixedGroups } from './security-groups.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { toCamelCase } from './to-camel-case.js';
import { rejectPortOfTrunk, trunkFields } from './trunks.js';
import {
  address,
  domainName,
  fixedIp,
  hostName,
  ipVersion,
  mac,
  nullableList,
  prefix,
  uniqueList,
  uuid,
} from './value-types.js';

const addressPair = z.strictObject({ ip_address: z.union([address, prefix]), mac_address: mac.optional() });
const dhcpOption = z.strictObject({
  opt_name: z.string().min(1),
  opt_value: z.string().nullable(),
  ip_version: ipVersion.optional(),
});
const vnicTypes = [
  'normal',
  'direct',
  'macvtap',
  'baremetal',
  'direct-physical',
  'virtio-forwarder',
  'smart-nic',
  'vdpa',
  'accelerator-direct',
  'accelerator-direct-physical',
  'remote-managed',
] as const;

const noFilter = { filter: false } as const;
const onlyFilter = { filter: 'only' } as const;
const adminReadable = { admin: 'read' } as const;

/** Returns a port's binding profile with the field `trusted`; an empty object if no administrator has set it. */
function trustedBindingProfile(call: Call, port: Doc): Wire {
  const trusted = call.cloud.documents.table<Wire>('network/ports').get(port.id)?.trusted ?? null;
  return trusted === null ? {} : { 'binding:profile': { ...(port['binding:profile'] as Wire), trusted } };
}

function catalogChange({ fixed_ips, ...body }: Wire): PortChange {
  const requested = (fixed_ips as readonly { ip_address?: string; subnet_id?: string }[] | undefined)?.map(
    ({ ip_address: address, subnet_id: subnetId }): FixedIpRequest => ({ address, subnetId }),
  );
  return { ...toCamelCase<PortChange>(body), ...(requested && { fixedIps: requested }) };
}

/** Merges DHCP options by name and IP version. A null value removes an option; any other value replaces it. */
function mergeDhcpOptions(before: unknown, requested: unknown): readonly Wire[] {
  const optionKey = (option: Wire) => `${option.opt_name}/${option.ip_version ?? 4}`;
  const mergedOptions = new Map(((before ?? []) as readonly Wire[]).map((option) => [optionKey(option), option]));
  for (const option of (requested ?? []) as readonly Wire[]) {
    if (option.opt_value === null) mergedOptions.delete(optionKey(option));
    else mergedOptions.set(optionKey(option), { ip_version: 4, ...option });
  }
  return [...mergedOptions.values()];
}

/** Returns the DNS name of each address of a port. */
function dnsAssignment({ dns_name, fixed_ips }: Doc): readonly Wire[] {
  return (fixed_ips as readonly Wire[]).map(({ ip_address }) => {
    const hostname = String(dns_name || `host-${String(ip_address).replaceAll(/[.:]/g, '-')}`);
    return { hostname, ip_address, fqdn: `${hostname}.openstacklocal.` };
  });
}

/** The fields of a new port that readers may not set, not even on a shared network. */
const MEMBER_FIELDS = ['device_id', 'binding:vnic_type', 'tags'];

/** Rejects a reader's new port. As in Neutron, all callers may create ports on a network that is shared with them. */
async function rejectReader(call: Call, port: Wire): Promise<void> {
  if (call.hasRole('member')) return;
  const network = await call.cloud.catalogs.networks.getNetwork(call.caller, String(port.network_id));
  if (!network.shared) throw notAllowedError('create_port');
  const memberField = MEMBER_FIELDS.find((key) => port[key] !== undefined);
  if (memberField) throw notAllowedError(`create_port:${memberField}`);
}

/**
 * Rejects fields that enable address spoofing, unless the caller is an administrator or a member of the network's
 * project.
 */
async function rejectSpoofing(call: Call, networkId: unknown, requested: Wire, rule: string) {
  const { cloud, caller, isAdmin } = call;
  const spoofingFields = ['mac_address', 'fixed_ips', 'port_security_enabled', 'allowed_address_pairs'];
  const spoofingField = spoofingFields.find((key) => requested[key] !== undefined);
  if (isAdmin || !spoofingField) return;
  const network = await cloud.catalogs.networks.getNetwork(caller, String(networkId));
  // On a shared network, callers may request a fixed IP from a subnet, but not a specific address.
  const requestsOnlySubnets =
    spoofingField === 'fixed_ips' && (requested.fixed_ips as readonly Wire[]).every(({ ip_address }) => !ip_address);
  const isOwner = call.hasRole('member') && [caller.projectId, ''].includes(network.projectId);
  if (!isOwner && !requestsOnlySubnets) throw notAllowedError(`${rule}:${spoofingField}`);
}

/** Ports. The ports of a server are created and deleted with the server. */
export const ports: ResourceSpec = {
  ...resourceNames('port'),
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    network_id: required(fixed(uuid)),
    admin_state_up: settable(flag, true),
    mac_address: settable(mac),
    fixed_ips: settable(z.array(fixedIp), undefined, onlyFilter),
    device_id: settable(text),
    device_owner: settable(text),
    status: derived(),
    security_groups: settable(nullableList(uuid), undefined, onlyFilter),
    'binding:host_id': settable(
      text.nullable().transform((host) => host ?? ''),
      undefined,
      { ...adminReadable, ...onlyFilter },
    ),
    'binding:profile': settable(
      dictionary.nullable().transform((profile) => profile ?? {}),
      undefined,
      {
        ...adminReadable,
        filter: false,
      },
    ),
    'binding:vnic_type': settable(z.enum(vnicTypes), undefined, noFilter),
    'binding:vif_type': derived(undefined, { ...adminReadable, filter: false }),
    'binding:vif_details': derived(undefined, { ...adminReadable, filter: false }),
    port_security_enabled: settable(flag, undefined, noFilter),
    allowed_address_pairs: settable(nullableList(addressPair), undefined, noFilter),
    extra_dhcp_opts: settable(z.array(dhcpOption).nullable(), () => [], { inDocuments: true, filter: false }),
    dns_name: settable(hostName, undefined, noFilter),
    dns_domain: settable(domainName, '', { inDocuments: true, filter: false }),
    dns_assignment: derived(undefined, noFilter),
    qos_policy_id: settable(uuid.nullable(), null, { inDocuments: true, filter: false }),
    qos_network_policy_id: derived(null, noFilter),
    trusted: settable(flag, null, { ...adminReadable, inDocuments: true, filter: false }),
    propagate_uplink_status: settable(flag, true, { inDocuments: true, filter: false }),
    numa_affinity_policy: settable(z.enum(['required', 'preferred', 'legacy', 'socket']).nullable(), null, {
      admin: 'write',
      inDocuments: true,
      filter: false,
    }),
    ip_allocation: derived('immediate'),
    resource_request: derived(undefined, { ...adminReadable, filter: false }),
    trunk_details: derived(undefined, noFilter),
    tags: fixed(uniqueList(text), undefined, onlyFilter),
  }),
  // `creating` rejects readers.
  roles: { create: 'reader' },
  async creating(call, port) {
    await rejectReader(call, port);
    await rejectSpoofing(call, port.network_id, port, 'create_port');
    rejectMixedGroups(call, port.security_groups);
    return { extra_dhcp_opts: mergeDhcpOptions([], port.extra_dhcp_opts) };
  },
  async changing(call, before, change) {
    await rejectSpoofing(call, before.network_id, change, 'update_port');
    rejectMixedGroups(call, change.security_groups);
    if (change.mac_address !== undefined && !call.hasRole('manager')) throw notAllowedError('update_port:mac_address');
    if (change.extra_dhcp_opts === undefined) return undefined;
    const storedFields = call.cloud.documents.table<Wire>('network/ports').get(before.id);
    return { extra_dhcp_opts: mergeDhcpOptions(storedFields?.extra_dhcp_opts, change.extra_dhcp_opts) };
  },
  removing(call, { id, device_owner }) {
    if (device_owner === 'network:floatingip')
      throw networkError(
        'ServicePortInUse',
        `Port ${id} cannot be deleted directly via the port API: has device owner network:floatingip.`,
      );
    rejectPortOfTrunk(call, id);
  },
  // A network's owner may delete other projects' ports on the network.
  storageAuthorizes: ['remove'],
  shows: async (call, port) => ({
    dns_assignment: dnsAssignment(port),
    ...trustedBindingProfile(call, port),
    ...(await trunkFields(call, port)),
  }),
  storage: {
    list: async (call) => {
      const { cloud, caller, query } = call;
      const devices = query.getAll('device_id');
      const networkIds = query.getAll('network_id');
      const ports = await cloud.catalogs.networks.listPorts(caller, {
        deviceIds: devices.length > 0 ? devices : undefined,
        networkId: networkIds.length === 1 ? networkIds[0] : undefined,
      });
      const addressPorts = (await floatingIpPorts(call)).filter(
        ({ network_id, device_id }) =>
          (networkIds.length === 0 || networkIds.includes(network_id)) &&
          (devices.length === 0 || devices.includes(device_id)),
      );
      return [...ports.map(portView), ...addressPorts];
    },
    get: async (call, id) => {
      const port = await call.cloud.catalogs.networks.getPort(call.caller, id).catch(ifMissing);
      return port ? portView(port) : (await floatingIpPorts(call)).find((one) => one.id === id);
    },
    create: async ({ cloud, caller }, body) => {
      const networkId = String(body.network_id);
      return portView(await cloud.catalogs.networks.createPort(caller, { ...catalogChange(body), networkId }));
    },
    update: async (call, { id }, change) => {
      const port = await call.cloud.catalogs.networks.updatePort(call.caller, id, catalogChange(change));
      removeForwardingsTo(
        call,
        id,
        port.fixedIps.map(({ address }) => address),
      );
      return portView(port);
    },
    remove: async (call, { id }) => {
      await call.cloud.catalogs.networks.deletePort(call.caller, id);
      removeForwardingsTo(call, id);
    },
  },
};
