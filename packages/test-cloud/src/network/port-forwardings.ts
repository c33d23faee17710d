import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { integerBetween, longText } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { hiddenOwner, hiddenStamps, resourceNames } from './standard-fields.js';
import { address, uuid } from './value-types.js';

const HIGHEST_PORT = 65_535;
const portNumber = integerBetween(1, HIGHEST_PORT);
const portRange = z.string().regex(/^\d{1,5}(:\d{1,5})?$/, 'is not a valid port range');

interface PortRange {
  readonly first: number;
  readonly last: number;
}

const badForwarding = (message: string) => networkError('BadRequest', `Bad port_forwarding request: ${message}`);

/**
 * Returns the external or internal port range, from a port (`80`) or a range (`80:90`); undefined if both are missing.
 */
function readRange(requested: Wire, side: 'external' | 'internal'): PortRange | undefined {
  const singlePort = requested[`${side}_port`];
  const range = requested[`${side}_port_range`];
  if (singlePort !== undefined && range !== undefined)
    throw badForwarding(`The ${side}_port and ${side}_port_range attributes cannot be specified simultaneously.`);
  const requestedRange = range ?? singlePort;
  if (requestedRange === undefined) return undefined;
  const [first = 0, last = first] = String(requestedRange).split(':').map(Number);
  if (first < 1 || last > HIGHEST_PORT || first > last)
    throw badForwarding(`Invalid ${side} port range ${requestedRange}.`);
  return { first, last };
}

/** Returns a port range in wire format. A range of one port is also returned as a single port. */
const wireRange = (side: string, { first, last }: PortRange): Wire => ({
  [`${side}_port_range`]: `${first}:${last}`,
  [`${side}_port`]: first === last ? first : undefined,
});

const wireRanges = ({ external, internal }: Readonly<Record<keyof typeof COLLISION_FIELDS, PortRange>>): Wire => ({
  ...wireRange('external', external),
  ...wireRange('internal', internal),
});

/** Returns the external and internal port range of a port forwarding after the requested change. */
function changedRanges(requested: Wire, before: Wire): { readonly external: PortRange; readonly internal: PortRange } {
  const requireRange = (side: 'external' | 'internal') => {
    const range =
      readRange(requested, side) ?? readRange({ [`${side}_port_range`]: before[`${side}_port_range`] }, side);
    if (!range) throw badForwarding(`The ${side}_port or ${side}_port_range attribute is required.`);
    return range;
  };
  const [external, internal] = [requireRange('external'), requireRange('internal')];
  const portCount = ({ first, last }: PortRange) => last - first + 1;
  if (portCount(internal) > 1 && portCount(internal) !== portCount(external))
    throw badForwarding('The number of internal ports must be one, or that of the external ports.');
  return { external, internal };
}

const forwardingTable = ({ cloud }: Call) => cloud.documents.table<Doc>('network/port_forwardings');

/** Returns a floating IP's port forwardings. Deletes those to ports that were deleted with their server. */
export async function forwardingsOf(call: Call, floatingIpId: string): Promise<readonly Doc[]> {
  const { networks } = call.cloud.catalogs;
  const forwardings: Doc[] = [];
  for (const forwarding of forwardingTable(call).values()) {
    if (forwarding.floatingip_id !== floatingIpId) continue;
    const port = await networks.getPort(call.elevatedCaller, String(forwarding.internal_port_id)).catch(ifMissing);
    if (port) forwardings.push(forwarding);
    else forwardingTable(call).delete(forwarding.id);
  }
  return forwardings;
}

/** Throws `FipInUseByPortForwarding` if a floating IP has port forwardings. */
export async function rejectForwardedFloatingIp(call: Call, floatingIpId: string): Promise<void> {
  if ((await forwardingsOf(call, floatingIpId)).length > 0)
    throw networkError('FipInUseByPortForwarding', `Floating IP ${floatingIpId} in use by Port Forwarding resources.`);
}

/** Deletes the port forwardings to an internal port, except those to the addresses that the port keeps. */
export function removeForwardingsTo(call: Call, portId: string, keptAddresses: readonly string[] = []): void {
  const table = forwardingTable(call);
  for (const { id, internal_port_id, internal_ip_address } of table.values())
    if (internal_port_id === portId && !keptAddresses.includes(String(internal_ip_address))) table.delete(id);
}

/**
 * If all of these fields are equal in two port forwardings, their internal or external port ranges must not overlap.
 */
const COLLISION_FIELDS = {
  internal: ['internal_port_id', 'internal_ip_address', 'protocol'],
  external: ['floatingip_id', 'protocol'],
} as const;

/** Throws a 400 error if the external or internal port range collides with that of another port forwarding. */
function rejectCollisions(
  call: Call,
  requested: Wire,
  ranges: Readonly<Record<keyof typeof COLLISION_FIELDS, PortRange>>,
  ownId?: string,
): void {
  const forwarding: Wire = { ...requested, floatingip_id: call.param('floatingip_id') };
  for (const side of ['internal', 'external'] as const) {
    const key = `${side}_port_range`;
    const { first, last } = ranges[side];
    for (const other of forwardingTable(call).values()) {
      if (other.id === ownId || COLLISION_FIELDS[side].some((field) => other[field] !== forwarding[field])) continue;
      const range = readRange({ [key]: other[key] }, side);
      if (range && range.first <= last && first <= range.last)
        throw badForwarding(
          `There is a port collision with the ${key}. The following ranges collide: ${other[key]} and ${first}:${last}`,
        );
    }
  }
}

async function rejectUnsuitablePort(call: Call, { internal_port_id, internal_ip_address }: Wire): Promise<void> {
  const port = await call.cloud.catalogs.networks.getPort(call.caller, String(internal_port_id));
  const addresses = port.fixedIps.map(({ address }) => address).filter((address) => !address.includes(':'));
  if (addresses.length === 0)
    throw badForwarding(`Requested internal port ${port.id} must allocate an IPv4 address at least.`);
  if (!addresses.includes(String(internal_ip_address)))
    throw badForwarding(
      `Requested internal IP address ${internal_ip_address} is not suitable for internal neutron port ${port.id}, as its fixed_ips are ${JSON.stringify(addresses)}`,
    );
}

/** Throws `PortHasBindingFloatingIP` if a floating IP is associated with the internal port. */
async function rejectPortWithFloatingIp(call: Call, { internal_port_id, internal_ip_address }: Wire): Promise<void> {
  const boundFloatingIp = (await call.cloud.catalogs.networks.listFloatingIps(call.elevatedCaller)).find(
    ({ portId }) => portId === internal_port_id,
  );
  if (boundFloatingIp)
    throw networkError(
      'PortHasBindingFloatingIP',
      `Cannot create port forwarding to floating IP ${boundFloatingIp.address} (${boundFloatingIp.id}) with port ${internal_port_id} using fixed IP ${internal_ip_address}, as that port already has a binding floating IP.`,
    );
}

const noFilter = { filter: false } as const;

/** Port forwardings, which forward ports of a floating IP to ports of internal addresses. */
export const portForwardings: ResourceSpec = {
  ...resourceNames('port_forwarding', 'floatingips/:floatingip_id/port_forwardings'),
  title: 'Port forwarding',
  policyName: 'floatingip_port_forwarding',
  within: ['floatingip_id'],
  requireParent: (call) => forwardingsOf(call, call.param('floatingip_id')),
  fields: () => ({
    ...hiddenOwner,
    ...hiddenStamps,
    floatingip_id: derived(undefined, { hidden: true }),
    external_port: settable(portNumber),
    external_port_range: settable(portRange),
    internal_port: settable(portNumber, undefined, noFilter),
    internal_port_range: settable(portRange, undefined, noFilter),
    internal_ip_address: required(settable(address, undefined, noFilter)),
    internal_port_id: required(settable(uuid)),
    protocol: required(settable(z.enum(['tcp', 'udp', 'icmp', 'icmp6', 'sctp', 'dccp']))),
    description: settable(longText, '', { filter: 'only' }),
  }),
  async creating(call, requested) {
    const ranges = changedRanges(requested, {});
    const floatingIp = await call.cloud.catalogs.networks.getFloatingIp(call.caller, call.param('floatingip_id'));
    rejectCollisions(call, requested, ranges);
    await rejectPortWithFloatingIp(call, requested);
    if (floatingIp.portId)
      throw networkError(
        'FloatingIPPortAlreadyAssociated',
        `Cannot associate floating IP ${floatingIp.address} (${floatingIp.id}) with port ${requested.internal_port_id} using fixed IP ${requested.internal_ip_address}, as that fixed IP already has a floating IP on external network ${floatingIp.networkId}.`,
      );
    await rejectUnsuitablePort(call, requested);
    return wireRanges(ranges);
  },
  async changing(call, before, change) {
    const ranges = changedRanges(change, before);
    const changedForwarding = { ...before, ...change };
    if (change.internal_port_id !== undefined) await rejectPortWithFloatingIp(call, changedForwarding);
    if (change.internal_port_id !== undefined || change.internal_ip_address !== undefined)
      await rejectUnsuitablePort(call, changedForwarding);
    rejectCollisions(call, changedForwarding, ranges, before.id);
    return wireRanges(ranges);
  },
};
