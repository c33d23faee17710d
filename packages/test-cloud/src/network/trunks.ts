import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { get, put } from '../service/route.js';
import { conflict, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { flag, integerBetween } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { networkView } from './network-views.js';
import { invalidInputError } from './provider-attributes.js';
import { nameFields, resourceNames, standardFields } from './standard-fields.js';
import { uuid } from './value-types.js';

const subPort = z
  .strictObject({
    port_id: uuid,
    segmentation_type: z.enum(['vlan', 'inherit']).optional(),
    segmentation_id: integerBetween(1, 4094).optional(),
  })
  .refine(
    ({ segmentation_type, segmentation_id }) =>
      segmentation_type === 'inherit' || (segmentation_type !== undefined && segmentation_id !== undefined),
    'is missing segmentation information: both segmentation_id and segmentation_type must be specified',
  );
/** A list of subports with unique segmentation IDs. */
const subPortList = z.array(subPort).refine((subPorts) => {
  const ids = subPorts.flatMap(({ segmentation_id }) => segmentation_id ?? []);
  return new Set(ids).size === ids.length;
}, 'has a segmentation ID that is not unique');
type SubPort = z.infer<typeof subPort>;
const SubPorts = z.object({ sub_ports: subPortList.min(1) });

const listTrunks = (call: Call) => [...call.cloud.documents.table<Doc>('network/trunks').values()];
const subPortsOf = (trunk: Wire) => trunk.sub_ports as readonly SubPort[];

const trunkPortInUse = (portId: unknown) =>
  networkError('TrunkPortInUse', `Port ${portId} is in use by another trunk.`);

/**
 * Returns the requested subports. A subport that inherits its segmentation gets the segment of its network.
 *
 * @throws ServiceError 409 if a subport's MTU is larger than the parent port's, 400 for a network that is not a VLAN
 */
async function completeSubPorts(call: Call, parentId: unknown, requested: readonly SubPort[]) {
  const { networks } = call.cloud.catalogs;
  const networkOf = async (portId: string) => {
    const { networkId } = await networks.getPort(call.caller, portId);
    return networks.getNetwork(call.elevatedCaller, networkId);
  };
  const parentNetwork = await networkOf(String(parentId));
  return Promise.all(
    requested.map(async (subPort) => {
      const network = await networkOf(subPort.port_id);
      if (network.mtu > parentNetwork.mtu)
        throw networkError(
          'SubPortMtuGreaterThanTrunkPortMtu',
          `MTU ${network.mtu} of subport ${subPort.port_id} cannot be greater than MTU ${parentNetwork.mtu} of trunk ${parentId}.`,
        );
      if (subPort.segmentation_type !== 'inherit') return subPort;
      const { 'provider:network_type': type, 'provider:segmentation_id': segmentation_id } = networkView(network);
      if (type !== 'vlan') throw invalidInputError(`Unknown segmentation_type '${type}'`);
      return { port_id: subPort.port_id, segmentation_type: type, segmentation_id: segmentation_id ?? undefined };
    }),
  );
}

/** Rejects a port that is already in a trunk, and a segmentation ID that is already used in this trunk. */
async function rejectDuplicates(call: Call, previous: readonly Wire[], requested: readonly Wire[]): Promise<void> {
  const usedPorts = new Set(
    listTrunks(call).flatMap((trunk) => [trunk.port_id, ...subPortsOf(trunk).map((sub) => sub.port_id)]),
  );
  const usedIds = new Set(previous.map(({ segmentation_id }) => segmentation_id));
  for (const { port_id, segmentation_id } of requested) {
    const { deviceId, networkId } = await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
    if (usedPorts.has(port_id)) throw trunkPortInUse(port_id);
    if (deviceId)
      throw networkError(
        'PortInUse',
        `Unable to complete operation on port ${port_id} for network ${networkId}. Port already has an attached device ${deviceId}.`,
      );
    if (segmentation_id !== undefined && usedIds.has(segmentation_id))
      throw conflict(
        `segmentation_type vlan and segmentation_id ${segmentation_id} already in use on trunk.`,
        'DuplicateSubPort',
      );
    usedPorts.add(port_id);
    usedIds.add(segmentation_id);
  }
}

/** Returns the trunk to which a port belongs, and whether the port is the trunk's parent port. */
function findMembership(call: Call, portId: string): { readonly trunk: Doc; readonly isParent: boolean } | undefined {
  const trunk = listTrunks(call).find(
    (one) => one.port_id === portId || subPortsOf(one).some(({ port_id }) => port_id === portId),
  );
  return trunk && { trunk, isParent: trunk.port_id === portId };
}

/** Throws `PortInUseAsSubPort` or `PortInUseAsTrunkParent` if a port belongs to a trunk. */
export function rejectPortOfTrunk(call: Call, portId: string): void {
  const membership = findMembership(call, portId);
  if (membership?.isParent)
    throw networkError(
      'PortInUseAsTrunkParent',
      `Port ${portId} is currently a parent port for trunk ${membership.trunk.id}.`,
    );
  if (membership)
    throw networkError('PortInUseAsSubPort', `Port ${portId} is currently a subport for trunk ${membership.trunk.id}.`);
}

/** Returns the fields of a port that depend on its trunk. A subport is on the same host as the parent port. */
export async function trunkFields(call: Call, port: Doc): Promise<Wire> {
  const membership = findMembership(call, port.id);
  if (!membership) return {};
  const { trunk, isParent } = membership;
  const { networks } = call.cloud.catalogs;
  if (isParent) {
    const trunk_details = (sub_ports: unknown) => ({ trunk_details: { trunk_id: trunk.id, sub_ports } });
    // The response for a single port contains the MAC addresses of subports; a list of ports does not.
    if (call.req.params.id === undefined) return trunk_details(trunk.sub_ports);
    const sub_ports = [];
    for (const subPort of subPortsOf(trunk)) {
      const subPortRecord = await networks.getPort(call.elevatedCaller, subPort.port_id).catch(ifMissing);
      sub_ports.push({ ...subPort, mac_address: subPortRecord?.mac ?? null });
    }
    return trunk_details(sub_ports);
  }
  const parent = await networks.getPort(call.elevatedCaller, String(trunk.port_id)).catch(ifMissing);
  const isBound = parent !== undefined && parent.hostId !== '';
  return {
    device_owner: 'trunk:subport',
    'binding:host_id': parent?.hostId ?? '',
    'binding:vif_type': isBound ? 'ovs' : 'unbound',
    status: isBound ? parent.status : 'DOWN',
  };
}

function rejectDisabled({ id, admin_state_up }: Doc): void {
  if (admin_state_up === false) throw networkError('TrunkDisabled', `Trunk ${id} is currently disabled.`);
}

/** Returns the trunk whose subports a request changes. Throws `TrunkDisabled` if the trunk is disabled. */
async function requireEnabled(resource: Resource, call: Call, policy: string): Promise<Doc> {
  const trunk = await resource.find(call, call.param('id'), 'change', policy);
  rejectDisabled(trunk);
  return trunk;
}

/** Trunks. A trunk's parent port carries the traffic of its subports. */
export const trunks: ResourceSpec = {
  ...resourceNames('trunk'),
  tags: true,
  fields: () => ({
    ...standardFields,
    ...nameFields,
    admin_state_up: settable(flag, true),
    port_id: required(fixed(uuid)),
    status: derived('ACTIVE'),
    sub_ports: fixed(subPortList, () => [], { filter: false }),
  }),
  async creating(call, { port_id, sub_ports }) {
    await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
    const membership = findMembership(call, String(port_id));
    if (membership?.isParent)
      throw networkError(
        'ParentPortInUse',
        `Port ${port_id} is currently in use and is not eligible for use as a parent port.`,
      );
    if (membership) throw trunkPortInUse(port_id);
    const complete = await completeSubPorts(call, port_id, sub_ports as readonly SubPort[]);
    await rejectDuplicates(call, [], complete);
    return { sub_ports: complete };
  },
  async removing(call, trunk) {
    rejectDisabled(trunk);
    const { id, port_id } = trunk;
    const port = await call.cloud.catalogs.networks.getPort(call.caller, String(port_id)).catch(ifMissing);
    if (port?.deviceId) throw conflict(`Trunk ${id} is currently in use.`, 'TrunkInUse');
  },
  routes: (resource) => [
    get('/v2.0/trunks/:id/get_subports', async (call) => ({
      sub_ports: (await resource.find(call, call.param('id'))).sub_ports,
    })),
    put('/v2.0/trunks/:id/add_subports', async (call) => {
      const before = await requireEnabled(resource, call, 'add_subports');
      const added = await completeSubPorts(call, before.port_id, call.body(SubPorts).sub_ports);
      await rejectDuplicates(call, subPortsOf(before), added);
      return resource.apply(call, before, { sub_ports: [...subPortsOf(before), ...added] });
    }),
    put('/v2.0/trunks/:id/remove_subports', async (call) => {
      const before = await requireEnabled(resource, call, 'remove_subports');
      const removedSubPorts = call.body(z.object({ sub_ports: z.array(z.object({ port_id: uuid })).min(1) })).sub_ports;
      const missingSubPort = removedSubPorts.find(
        ({ port_id }) => !subPortsOf(before).some((sub) => sub.port_id === port_id),
      );
      if (missingSubPort)
        throw notFound(
          `SubPort on trunk ${before.id} with parent port ${missingSubPort.port_id} could not be found.`,
          'SubPortNotFound',
        );
      const remainingSubPorts = subPortsOf(before).filter(
        (sub) => !removedSubPorts.some(({ port_id }) => port_id === sub.port_id),
      );
      return resource.apply(call, before, { sub_ports: remainingSubPorts });
    }),
  ],
};
