import { z } from 'zod';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, put } from '../service/route.js';
import { anyId, dictionary, flag, integer, integerBetween, longText, text } from '../service/wire-types.js';
import { missingResource } from './network-errors.js';
import { ethertype, ipPrefix, protocol } from './security-groups.js';
import { isAccessible } from './sharing.js';
import { hiddenOwner, hiddenStamps, nameFields, ownerFields, resourceNames, stampFields } from './standard-fields.js';
import { address, ipVersion, uuid } from './value-types.js';

const hiddenField = { hidden: true } as const;
const noFilter = { filter: false } as const;
const onlyFilter = { filter: 'only' } as const;

const writeVerbs = ['create', 'change', 'remove'] as const;
/** As in Neutron, changes to metering labels and rules require the role `manager`. */
const meteringRoles = { create: 'manager', remove: 'manager' } as const;
const verbsWithoutChange = ['list', 'show', 'create', 'remove'] as const;

/** An autonomous system number. */
const number32 = integerBetween(1, 2 ** 32 - 1);

/** Labels for metering project traffic. */
const meteringLabels: ResourceSpec = {
  ...resourceNames('metering_label', 'metering/metering-labels'),
  verbs: verbsWithoutChange,
  roles: meteringRoles,
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    name: fixed(text, ''),
    description: fixed(longText, ''),
    shared: fixed(flag, false),
  }),
};

const meteringRules: ResourceSpec = {
  ...resourceNames('metering_label_rule', 'metering/metering-label-rules'),
  verbs: verbsWithoutChange,
  roles: meteringRoles,
  fields: () => ({
    ...hiddenOwner,
    ...hiddenStamps,
    metering_label_id: required(fixed(uuid)),
    direction: required(fixed(z.enum(['ingress', 'egress']))),
    excluded: fixed(flag, false),
    remote_ip_prefix: fixed(text.nullable(), null),
    source_ip_prefix: fixed(text.nullable(), null),
    destination_ip_prefix: fixed(text.nullable(), null),
  }),
  creating(call, { metering_label_id }) {
    const id = String(metering_label_id);
    const label = call.cloud.documents.table<Doc>('network/metering_labels').get(id);
    if (!label || !isAccessible(call, label)) throw missingResource('Metering label', id);
  },
};

/** Default security group rules. They are stored and returned, but new security groups have the built-in rules. */
const defaultRules: ResourceSpec = {
  ...resourceNames('default_security_group_rule'),
  verbs: verbsWithoutChange,
  admin: writeVerbs,
  fields: () => ({
    ...hiddenOwner,
    ...stampFields,
    description: fixed(longText, '', onlyFilter),
    direction: required(fixed(z.enum(['ingress', 'egress']))),
    ethertype: fixed(ethertype, 'IPv4'),
    protocol: fixed(protocol.nullable(), null),
    port_range_min: fixed(integerBetween(0, 65_535).nullable(), null),
    port_range_max: fixed(integerBetween(0, 65_535).nullable(), null),
    remote_ip_prefix: fixed(ipPrefix.nullable(), null),
    remote_group_id: fixed(text.nullable(), null),
    remote_address_group_id: fixed(anyId.nullable(), null),
    used_in_default_sg: required(fixed(flag, undefined, onlyFilter)),
    used_in_non_default_sg: required(fixed(flag, undefined, onlyFilter)),
  }),
};

/** BGP peers. */
const bgpPeers: ResourceSpec = {
  ...resourceNames('bgp_peer'),
  admin: ['list', 'show', ...writeVerbs],
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    ...nameFields,
    peer_ip: required(fixed(address)),
    remote_as: required(fixed(number32)),
    auth_type: required(fixed(z.enum(['none', 'md5']))),
    password: settable(text.nullable(), null, hiddenField),
  }),
};

const bgpSpeakers: ResourceSpec = {
  ...resourceNames('bgp_speaker'),
  admin: ['list', 'show', ...writeVerbs],
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    ...nameFields,
    local_as: required(fixed(number32)),
    ip_version: fixed(ipVersion, 4),
    advertise_floating_ip_host_routes: settable(flag, true),
    advertise_tenant_networks: settable(flag, true),
    peers: derived(() => [], noFilter),
    networks: derived(() => [], noFilter),
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
          const otherIds = (before[list] as readonly unknown[]).filter((other) => other !== id);
          await resource.apply(call, before, { [list]: adds ? [...otherIds, id] : otherIds });
          return { [key]: id };
        }),
      ),
    ),
  ],
};

/** Tap mirrors, which copy a port's traffic to a remote address. */
const tapMirrors: ResourceSpec = {
  ...resourceNames('tap_mirror', 'taas/tap_mirrors'),
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    ...nameFields,
    description: settable(text, ''),
    port_id: required(fixed(uuid)),
    directions: required(fixed(z.object({ IN: integer.optional(), OUT: integer.optional() }), undefined, noFilter)),
    remote_ip: required(fixed(address)),
    mirror_type: required(fixed(z.enum(['gre', 'erspanv1']))),
  }),
  async creating(call, { port_id }) {
    await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
  },
};

/** Resources that are stored, returned and filtered, but have no effect in this cloud. */
export const smallResources: readonly ResourceSpec[] = [
  meteringLabels,
  meteringRules,
  defaultRules,
  bgpPeers,
  bgpSpeakers,
  tapMirrors,
];
