import { z } from 'zod';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, put } from '../service/route.js';
import { anyId, anything, dictionary, flag, integerBetween, text } from '../service/wire-types.js';
import { hiddenStamps, named, ownerFields, stampFields, standardFields } from './standard-fields.js';

const hidden = { hidden: true } as const;

/** Fields of resources without a project. */
const unowned = { id: derived(), ...stampFields };
const writes = ['create', 'change', 'remove'] as const;
const unchangeable = ['list', 'show', 'create', 'remove'] as const;

/** Ranges of segment ids for projects. */
const segmentRanges: ResourceSpec = {
  path: 'network-segment-ranges',
  one: 'network_segment_range',
  many: 'network_segment_ranges',
  tags: true,
  admin: ['list', 'show', ...writes],
  fields: () => ({
    ...standardFields,
    ...named,
    default: derived(false),
    shared: fixed(flag, true),
    network_type: required(fixed(z.enum(['vlan', 'vxlan', 'gre', 'geneve']))),
    physical_network: fixed(text.nullable(), null),
    minimum: required(settable(integerBetween(1, 2 ** 32))),
    maximum: required(settable(integerBetween(1, 2 ** 32))),
    used: derived(() => ({}), { filter: false }),
    available: derived(() => [], { filter: false }),
  }),
};

/** Labels for metering the traffic of projects. */
const meteringLabels: ResourceSpec = {
  path: 'metering/metering-labels',
  one: 'metering_label',
  many: 'metering_labels',
  verbs: unchangeable,
  admin: writes,
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    name: fixed(text, ''),
    description: fixed(text, ''),
    shared: fixed(flag, false),
  }),
};

const meteringRules: ResourceSpec = {
  path: 'metering/metering-label-rules',
  one: 'metering_label_rule',
  many: 'metering_label_rules',
  verbs: unchangeable,
  admin: writes,
  fields: () => ({
    id: derived(),
    ...hiddenStamps,
    metering_label_id: required(fixed(anyId)),
    direction: required(fixed(z.enum(['ingress', 'egress']))),
    excluded: fixed(flag, false),
    remote_ip_prefix: fixed(text.nullable(), null),
    source_ip_prefix: fixed(text.nullable(), null),
    destination_ip_prefix: fixed(text.nullable(), null),
  }),
};

/** Default rules of new security groups. They are stored and returned, but new groups have the built-in rules. */
const defaultRules: ResourceSpec = {
  path: 'default-security-group-rules',
  one: 'default_security_group_rule',
  many: 'default_security_group_rules',
  verbs: unchangeable,
  admin: writes,
  fields: () => ({
    ...unowned,
    description: settable(text, ''),
    direction: required(fixed(z.enum(['ingress', 'egress']))),
    ethertype: fixed(z.enum(['IPv4', 'IPv6']), 'IPv4'),
    protocol: fixed(text.nullable(), null),
    port_range_min: fixed(integerBetween(0, 65_535).nullable(), null),
    port_range_max: fixed(integerBetween(0, 65_535).nullable(), null),
    remote_ip_prefix: fixed(text.nullable(), null),
    remote_group_id: fixed(text.nullable(), null),
    remote_address_group_id: fixed(anyId.nullable(), null),
    used_in_default_sg: fixed(flag, false),
    used_in_non_default_sg: fixed(flag, true),
  }),
};

/** BGP peers. */
const bgpPeers: ResourceSpec = {
  path: 'bgp-peers',
  one: 'bgp_peer',
  many: 'bgp_peers',
  admin: ['list', 'show', ...writes],
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    name: required(settable(text)),
    peer_ip: required(fixed(text)),
    remote_as: required(fixed(integerBetween(1, 2 ** 32 - 1))),
    auth_type: fixed(z.enum(['none', 'md5']), 'none'),
    password: settable(text.nullable(), null, hidden),
  }),
};

const bgpSpeakers: ResourceSpec = {
  path: 'bgp-speakers',
  one: 'bgp_speaker',
  many: 'bgp_speakers',
  admin: ['list', 'show', ...writes],
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    name: required(settable(text)),
    local_as: required(fixed(integerBetween(1, 2 ** 32 - 1))),
    ip_version: fixed(integerBetween(4, 6), 4),
    advertise_floating_ip_host_routes: settable(flag, true),
    advertise_tenant_networks: settable(flag, true),
    peers: derived(() => [], { filter: false }),
    networks: derived(() => [], { filter: false }),
  }),
  routes: (resource) => [
    ...Object.entries({ get_advertised_routes: 'advertised_routes', 'bgp-dragents': 'agents' }).map(([part, list]) =>
      get(`/v2.0/bgp-speakers/:id/${part}`, async (call) => {
        await resource.find(call, call.param('id'));
        return { [list]: [] };
      }),
    ),
    ...[
      { what: 'bgp_peer', key: 'bgp_peer_id', list: 'peers' },
      { what: 'gateway_network', key: 'network_id', list: 'networks' },
    ].flatMap(({ what, key, list }) =>
      [true, false].map((adds) =>
        put(`/v2.0/bgp-speakers/:id/${adds ? 'add' : 'remove'}_${what}`, async (call) => {
          const before = await resource.find(call, call.param('id'), 'change');
          const id = (call.body(dictionary) as Record<string, unknown>)[key];
          const others = (before[list] as readonly unknown[]).filter((other) => other !== id);
          await resource.apply(call, before, { [list]: adds ? [...others, id] : others });
          return { [key]: id };
        }),
      ),
    ),
  ],
};

/** Mirrors of the traffic of a port. */
const tapMirrors: ResourceSpec = {
  path: 'taas/tap_mirrors',
  one: 'tap_mirror',
  many: 'tap_mirrors',
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    ...named,
    description: settable(text, ''),
    port_id: required(fixed(anyId)),
    directions: required(fixed(anything, undefined, { filter: false })),
    remote_ip: required(fixed(text)),
    mirror_type: required(fixed(z.enum(['gre', 'erspanv1']))),
  }),
  async creating(call, { port_id }) {
    await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
  },
};

/** Resources that are stored, returned and filtered, but have no effect in this cloud. */
export const smallResources: readonly ResourceSpec[] = [
  segmentRanges,
  meteringLabels,
  meteringRules,
  defaultRules,
  bgpPeers,
  bgpSpeakers,
  tapMirrors,
];
