import { type Server, statusOf } from '@apistrata/compute-engine';
import { between, notBefore, since, until } from '@apistrata/microversion';
import { field, nested, nestedList, type ViewField, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { instanceNameOf } from './instance-name.js';
import { linksTo } from './links.js';
import { partialServer } from './server-partial.js';
import {
  addresses,
  addressesOf,
  attachedVolume,
  embeddedFlavor,
  fault,
  faultOf,
  groupsField,
  hintsOf,
  hostIdOf,
  imageField,
  plainAddresses,
  plainAddressesOf,
  securityGroupsOf,
  sightOf,
  volumesOf,
  zoneOf,
} from './server-parts.js';

type Shape = ViewShape<Server, ComputeCall>;
type Field = ViewField<Server, ComputeCall>;

const PROGRESSING = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

const text = (get: (server: Server, call: ComputeCall) => string): Field => field(z.string(), get);
const nullable = (get: (server: Server, call: ComputeCall) => string | null): Field => field(type.nullableText, get);

/** A field that only those see who may see extended attributes. */
function attribute<S extends z.ZodType>(schema: S, get: (server: Server) => z.input<S>): Field {
  const optional: z.ZodOptional<S> = schema.optional();
  return field<Server, ComputeCall, z.ZodOptional<S>>(optional, (server, call) =>
    sightOf(call).attributes ? get(server) : undefined,
  );
}

function hostStatusOf(server: Server, call: ComputeCall): z.infer<typeof hostStatus> | undefined {
  const sight = sightOf(call);
  if (!sight.hostStatus && !sight.unknownHostStatus) return undefined;
  const status = call.engine.infrastructure.statusOf(server.host ? call.hosts?.hosts.get(server.host) : undefined);
  return sight.hostStatus || status === 'UNKNOWN' ? status : undefined;
}

const hostStatus = z.enum(['UP', 'DOWN', 'MAINTENANCE', 'UNKNOWN', '']);

/** What every full representation shows. */
const common: Shape = {
  id: text((s) => s.id),
  name: text((s) => s.name),
  status: text((s) => statusOf(s)),
  tenant_id: text((s) => s.projectId),
  user_id: text((s) => s.userId),
  metadata: field(type.textMap, (s) => s.metadata),
  hostId: text((s) => hostIdOf(s.projectId, s.host)),
  image: imageField,
  flavor: nested(embeddedFlavor, (s) => s.flavor),
  created: field(type.serverTime, (s) => type.showServerTime(s.createdAt)),
  updated: field(type.serverTime, (s) => type.showServerTime(s.updatedAt ?? s.createdAt)),
  accessIPv4: text((s) => s.accessIpV4),
  accessIPv6: text((s) => s.accessIpV6),
  links: linksTo('servers'),
  'OS-DCF:diskConfig': text((s) => s.diskConfig),
  fault: field(fault.optional(), (s, call) => faultOf(s, statusOf(s), call.context.isAdmin)),
  progress: field(z.int().optional(), (s) => (PROGRESSING.has(statusOf(s)) ? s.progress : undefined)),
  locked: since(
    '2.9',
    field(z.boolean(), (s) => s.lock !== null),
  ),
  description: since(
    '2.19',
    nullable((s) => s.description),
  ),
  tags: since(
    '2.26',
    field(z.array(z.string()).max(50), (s) => [...s.tags]),
  ),
  trusted_image_certificates: since(
    '2.63',
    field(z.array(z.string()).nullable(), (s) => s.trustedCerts && [...s.trustedCerts]),
  ),
  locked_reason: since(
    '2.73',
    nullable((s) => s.lock?.reason ?? null),
  ),
  pinned_availability_zone: since(
    '2.96',
    nullable((s) => s.pinnedZone),
  ),
  scheduler_hints: since('2.100', field(z.record(z.string(), z.array(z.string())), hintsOf)),
};

/** Who is in which group is too dear for lists. */
const groups: Shape = { server_groups: groupsField };

/** What lists and show always had, and the answers to changes from 2.75 on. */
const extended: Shape = {
  config_drive: text((s) => (s.configDrive ? 'True' : '')),
  key_name: nullable((s) => s.keyName),
  'OS-SRV-USG:launched_at': field(type.nullableTime, (s) => type.showNullableTime(s.launchedAt)),
  'OS-SRV-USG:terminated_at': field(type.nullableTime, (s) => type.showNullableTime(s.terminatedAt)),
  'OS-EXT-AZ:availability_zone': text(zoneOf),
  'OS-EXT-STS:task_state': nullable((s) => s.taskState),
  'OS-EXT-STS:vm_state': text((s) => s.vmState),
  'OS-EXT-STS:power_state': field(z.int(), (s) => s.powerState),
  'os-extended-volumes:volumes_attached': nestedList(attachedVolume, volumesOf),
  security_groups: field(z.array(z.strictObject({ name: z.string() })).optional(), securityGroupsOf),
  'OS-EXT-SRV-ATTR:host': attribute(type.nullableText, (s) => s.host),
  'OS-EXT-SRV-ATTR:hypervisor_hostname': attribute(type.nullableText, (s) => s.node),
  'OS-EXT-SRV-ATTR:instance_name': attribute(z.string(), (s) => instanceNameOf(s.seq)),
  'OS-EXT-SRV-ATTR:kernel_id': since(
    '2.3',
    attribute(type.nullableText, (s) => s.kernelId),
  ),
  'OS-EXT-SRV-ATTR:launch_index': since(
    '2.3',
    attribute(z.int(), (s) => s.launchIndex),
  ),
  'OS-EXT-SRV-ATTR:ramdisk_id': since(
    '2.3',
    attribute(type.nullableText, (s) => s.ramdiskId),
  ),
  'OS-EXT-SRV-ATTR:reservation_id': since(
    '2.3',
    attribute(type.nullableText, (s) => s.reservationId),
  ),
  'OS-EXT-SRV-ATTR:root_device_name': since(
    '2.3',
    attribute(type.nullableText, (s) => s.rootDeviceName),
  ),
  host_status: since('2.16', field(hostStatus.optional(), hostStatusOf)),
};

/** The host name: for administrators from some version on, for everybody from 2.90. */
function hostnameSince(first: string) {
  return [
    between(
      first,
      '2.89',
      attribute(z.string(), (s) => s.hostname),
    ),
    since(
      '2.90',
      text((s) => s.hostname),
    ),
  ];
}

const userDataAttribute = since(
  '2.3',
  attribute(type.nullableText, (s) => s.userData),
);

/** Fields that lists and show have from the start. */
const shown: Shape = {
  ...common,
  ...extended,
  addresses: field(addresses, addressesOf),
  'OS-EXT-SRV-ATTR:hostname': hostnameSince('2.3'),
  'OS-EXT-SRV-ATTR:user_data': userDataAttribute,
};

/** The text of a server depends on who looks, from where, and on the state of the hosts. */
function memo(call: ComputeCall): string {
  const { attributes, hostStatus, unknownHostStatus, extraSpecs } = sightOf(call);
  return `${call.selfBase} ${call.hosts?.epoch} ${attributes} ${hostStatus} ${unknownHostStatus} ${extraSpecs} ${call.context.isAdmin}`;
}

export const serverSummary = view<Server, ComputeCall>(
  { id: text((s) => s.id), name: text((s) => s.name), links: linksTo('servers') },
  { memo: (call) => call.selfBase, instead: partialServer.summary },
);

export const serverDetail = view<Server, ComputeCall>(shown, { memo, instead: partialServer.detail });

export const serverShown = view<Server, ComputeCall>({ ...shown, ...groups }, { memo, instead: partialServer.shown });

function since275(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, windowed]) => [name, notBefore('2.75', windowed)!]));
}

const changed: Shape = {
  ...common,
  ...groups,
  ...since275({ ...extended, 'OS-EXT-SRV-ATTR:user_data': userDataAttribute }),
  addresses: [until('2.74', field(plainAddresses, plainAddressesOf)), since('2.75', field(addresses, addressesOf))],
  'OS-EXT-SRV-ATTR:hostname': hostnameSince('2.75'),
};

/** The answer to PUT: from 2.75 the same as show. */
export const serverUpdated = view<Server, ComputeCall>(changed);

/** A rebuilt server, with what only that answer tells. */
export interface Rebuilt extends Server {
  readonly adminPassword: string | null;
}

const { 'OS-EXT-SRV-ATTR:user_data': _, ...rebuiltBase } = changed;

/** The answer to rebuild. */
export const serverRebuilt = view<Rebuilt, ComputeCall>({
  ...(rebuiltBase as unknown as ViewShape<Rebuilt, ComputeCall>),
  adminPass: field(z.string().optional(), (s) => s.adminPassword ?? undefined),
  key_name: since(
    '2.54',
    field(type.nullableText, (s) => s.keyName),
  ),
  user_data: since(
    '2.57',
    field(type.nullableText, (s) => s.userData),
  ),
});

/** The answer to a request for one server. */
export interface Created {
  readonly server: Server;
  readonly adminPassword: string | undefined;
}

export const serverCreated = view<Created, ComputeCall>({
  id: field(z.string(), ({ server }) => server.id),
  links: field(type.links, ({ server }, call) => [...call.links(`/servers/${server.id}`)] as never),
  'OS-DCF:diskConfig': field(z.enum(['AUTO', 'MANUAL']), ({ server }) => server.diskConfig),
  security_groups: field(z.array(z.strictObject({ name: z.string() })), ({ server }) =>
    server.securityGroups.map((name) => ({ name })),
  ),
  adminPass: field(z.string().optional(), ({ adminPassword }) => adminPassword),
});
