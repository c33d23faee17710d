import type { NetworkFields, NetworkRecord, ProviderSegment } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, settable } from '../service/field.js';
import { onlyValue } from '../service/filter.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { flag, integerBetween, text } from '../service/wire-types.js';
import { mtuOf, rejectSmallMtu } from './network-mtu.js';
import { removeSegments, storedSegmentsOf } from './network-segments.js';
import { networkView } from './network-views.js';
import {
  invalidInputError,
  PROVIDER_FIELDS,
  requestedSegments,
  splitProvider,
  TUNNEL_TYPE,
  toProviderFields,
  UNSET_SEGMENT,
} from './provider-attributes.js';
import { defaultPolicyOf } from './qos.js';
import { completeSegments, hasRanges } from './segment-allocation.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { toCamelCase } from './to-camel-case.js';
import { domainName, uniqueList, uuid } from './value-types.js';

const adminWritable = { admin: 'write', filter: 'only' } as const;
/** The field options of provider attributes, which only administrators can see and set. */
const provider = { admin: 'read', filter: 'only' } as const;

const SegmentList = z
  .array(
    z.object({
      'provider:network_type': text,
      'provider:physical_network': text.nullish(),
      'provider:segmentation_id': integerBetween(0, 2 ** 24).nullish(),
    }),
  )
  .min(1);

/** Converts a request body to catalog fields. */
function catalogFields(
  { cloud }: Call,
  body: Readonly<Record<string, unknown>>,
  before?: NetworkRecord,
): NetworkFields {
  const { provider, rest } = splitProvider(body, before, cloud.simulated);
  const fields = toCamelCase<NetworkFields>(rest);
  // If a network becomes external, all projects can use it.
  const becomesExternal = fields.external === true && before?.external !== true;
  return { ...fields, ...(provider && { provider }), ...(becomesExternal && { externalFor: null }) };
}

/** Rejects an MTU that is too large for the physical network, or too small for the network's subnets. */
async function checkMtu({ cloud, elevatedCaller }: Call, { id, ...network }: Doc, mtu: number): Promise<void> {
  if (cloud.simulated) mtuOf(mtu, [String(network['provider:network_type'])]);
  rejectSmallMtu({ id, mtu }, await cloud.catalogs.networks.listSubnets(elevatedCaller, { networkId: id }));
}

/**
 * Returns the segments of a new network; an empty list if the network needs no provider attributes. An internal network
 * receives a segment ID from a range if ranges exist for its type.
 */
async function newSegments(call: Call, body: Wire): Promise<readonly ProviderSegment[]> {
  const requested = requestedSegments(body);
  const usesRanges = requested.length === 0 && !body['router:external'] && hasRanges(call, TUNNEL_TYPE);
  return completeSegments(call, String(body.project_id), usesRanges ? [UNSET_SEGMENT] : requested);
}

export const networks: ResourceSpec = {
  ...resourceNames('network'),
  // Serialized, so that concurrent changes cannot assign the same segment to two networks.
  serializedBy: { change: 'collection' },
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    admin_state_up: settable(flag, true),
    status: derived(),
    subnets: derived(undefined, { filter: false }),
    shared: settable(flag, false, adminWritable),
    'router:external': settable(flag, false, adminWritable),
    is_default: settable(flag, false, adminWritable),
    mtu: settable(integerBetween(0, 65_535)),
    port_security_enabled: settable(flag, true, { filter: false }),
    dns_domain: settable(domainName, '', { inDocuments: true, filter: false }),
    qos_policy_id: settable(uuid.nullable(), null, { inDocuments: true, filter: false }),
    vlan_transparent: fixed(flag, null, { inDocuments: true, filter: 'only' }),
    availability_zone_hints: fixed(uniqueList(text), () => [], { inDocuments: true, filter: 'sort' }),
    availability_zones: derived(undefined, { filter: false }),
    ipv4_address_scope: derived(undefined, { filter: false }),
    ipv6_address_scope: derived(undefined, { filter: false }),
    l2_adjacency: derived(undefined, { filter: false }),
    'provider:network_type': settable(text.max(32), undefined, provider),
    'provider:physical_network': settable(text.max(64), undefined, provider),
    'provider:segmentation_id': settable(integerBetween(1, 2 ** 24), undefined, provider),
    segments: fixed(SegmentList, undefined, { admin: 'read', inDocuments: true, filter: false }),
  }),
  async creating(call, body) {
    const segments = await newSegments(call, body);
    const types = segments.map(({ networkType }) => networkType);
    const providerFields = segments.map(toProviderFields);
    return {
      ...(call.cloud.simulated && { mtu: mtuOf(body.mtu, types) }),
      ...providerFields[0],
      segments: segments.length > 1 ? providerFields : undefined,
      ...(!body.qos_policy_id && { qos_policy_id: defaultPolicyOf(call, body.project_id)?.id ?? null }),
    };
  },
  changing: async (call, before, change) => {
    if (change.mtu !== undefined) await checkMtu(call, before, Number(change.mtu));
    if (PROVIDER_FIELDS.some((name) => change[name] !== undefined) && storedSegmentsOf(call, before.id))
      throw invalidInputError('the provider attributes of a network with several segments cannot be changed');
    return undefined;
  },
  shows: async (call, { id }) =>
    storedSegmentsOf(call, id) ? Object.fromEntries(PROVIDER_FIELDS.map((name) => [name, undefined])) : {},
  storage: {
    list: async ({ cloud, caller, query }) => {
      const ids = query.getAll('id');
      const name = onlyValue(query, 'name');
      const networks = await cloud.catalogs.networks.listNetworks(caller, {
        name,
        ids: ids.length > 0 ? ids : undefined,
      });
      return networks.map(networkView);
    },
    get: async ({ cloud, caller }, id) => networkView(await cloud.catalogs.networks.getNetwork(caller, id)),
    create: async (call, body) => {
      const fields = catalogFields(call, body);
      return networkView(await call.cloud.catalogs.networks.createNetwork(call.caller, fields));
    },
    update: async (call, { id }, change) => {
      const { caller } = call;
      const { networks } = call.cloud.catalogs;
      const before = await networks.getNetwork(caller, id);
      const { provider, ...fields } = catalogFields(call, change, before);
      const [segment] = provider ? await completeSegments(call, before.projectId, [provider], id) : [];
      const changedFields = { ...fields, ...(segment && { provider: segment }) };
      return networkView(await networks.updateNetwork(caller, id, changedFields));
    },
    remove: async (call, { id }) => {
      await call.cloud.catalogs.networks.deleteNetwork(call.caller, id);
      removeSegments(call, id);
    },
  },
};
