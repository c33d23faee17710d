import type { Server } from '@apistrata/compute-engine';
import type { RequestOf } from '@apistrata/compute-engine/actions';
import { type NewServer, statusOf, zoneOf } from '@apistrata/compute-engine/api';
import { between, since, until, type Windowed } from '@apistrata/microversion';
import { field, nested, nestedList, type ViewField } from '@apistrata/microversion/router';
import type { AnySchema, Described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import * as filter from '../schemas/list-filter.js';
import * as reply from '../schemas/reply-types.js';
import * as type from '../schemas/types.js';
import { instanceNameOf } from './instance-name.js';
import { linksTo } from './links.js';
import {
  attachedVolume,
  embeddedFlavor,
  fault,
  faultOf,
  hintsOf,
  hostIdOf,
  imageField,
  securityGroups,
  securityGroupsOf,
  viewPermissionsOf,
  volumesOf,
} from './server-parts.js';

type Field = ViewField<Server, HostsCall>;

/** Requests that set the properties of a server. */
export type ServerRequest = 'create' | 'update' | 'rebuild';

/**
 * The complete definition of a field: its schemas in requests, where its value is stored, and how responses show it.
 */
export interface ServerField extends Readonly<Partial<Record<ServerRequest, Windowed<AnySchema>>>> {
  /** Name of the field in requests and records of the engine. If it is missing, the handlers process the value. */
  readonly recordField?: keyof NewServer | keyof RequestOf<'rebuild'> | keyof Server;
  readonly response?: Windowed<Field | Described<Field>>;
  /** The filter and sort key of lists, under the field's name. */
  readonly filter?: filter.ListFilter;
}

const text = (get: (server: Server, call: HostsCall) => string): Field => field(z.string(), get);
const nullable = (get: (server: Server, call: HostsCall) => string | null): Field => field(reply.nullableText, get);

/** A field for callers that may see extended attributes. */
function attribute<S extends z.ZodType>(schema: S, get: (server: Server) => z.input<S>): Field {
  const optional: z.ZodOptional<S> = schema.optional();
  return field<Server, HostsCall, z.ZodOptional<S>>(optional, (server, call) =>
    viewPermissionsOf(call).attributes ? get(server) : undefined,
  );
}

const hostStatus = z.enum(['UP', 'DOWN', 'MAINTENANCE', 'UNKNOWN', '']);

function hostStatusOf(server: Server, call: HostsCall): z.infer<typeof hostStatus> | undefined {
  const permissions = viewPermissionsOf(call);
  if (!permissions.hostStatus && !permissions.unknownHostStatus) return undefined;
  const host = server.deleted ? null : server.host;
  const status = (host !== null && call.loaded.hosts.get(host)?.status) || '';
  return permissions.hostStatus || status === 'UNKNOWN' ? status : undefined;
}

/** The same schema in every request that builds a server. */
const inBuilds = <const S>(schema: S) => ({ create: schema, rebuild: schema }) as const;
/** The same schema in all requests. */
const inAllBodies = <const S>(schema: S) => ({ ...inBuilds(schema), update: schema }) as const;

const PROGRESSING = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

/** Fields of every full representation, in this order. */
export const commonFields = {
  id: { response: text((s) => s.id) },
  name: { recordField: 'name', ...inAllBodies(type.name.optional()), create: type.name, response: text((s) => s.name) },
  status: { response: text((s) => statusOf(s)) },
  tenant_id: { response: text((s) => s.projectId) },
  user_id: { response: text((s) => s.userId) },
  metadata: {
    recordField: 'metadata',
    ...inBuilds(type.metadata.optional()),
    response: field(reply.textMap, (s) => s.metadata),
  },
  hostId: { response: text((s) => hostIdOf(s.projectId, s.host)) },
  image: { response: imageField },
  flavor: { response: nested(embeddedFlavor, (s) => s.flavor) },
  created: { response: field(reply.serverTime, (s) => reply.showServerTime(s.createdAt)) },
  updated: { response: field(reply.serverTime, (s) => reply.showServerTime(s.updatedAt ?? s.createdAt)) },
  accessIPv4: { recordField: 'accessIpV4', ...inAllBodies(type.ipv4.optional()), response: text((s) => s.accessIpV4) },
  accessIPv6: { recordField: 'accessIpV6', ...inAllBodies(type.ipv6.optional()), response: text((s) => s.accessIpV6) },
  links: { response: linksTo('servers') },
  'OS-DCF:diskConfig': {
    recordField: 'diskConfig',
    ...inAllBodies(type.diskConfig.optional()),
    response: text((s) => s.diskConfig),
  },
  fault: { response: field(fault.optional(), (s, call) => faultOf(s, statusOf(s), call.context.isAdmin)) },
  progress: { response: field(z.int().optional(), (s) => (PROGRESSING.has(statusOf(s)) ? s.progress : undefined)) },
  locked: {
    response: since(
      '2.9',
      field(z.boolean(), (s) => s.lock !== null),
    ),
  },
  description: {
    recordField: 'description',
    ...inAllBodies(since('2.19', type.description().optional())),
    filter: {
      schema: filter.pattern,
      pattern: 'description',
      ...filter.adminOnly('Filters servers by description, as a regular expression.'),
    },
    response: since(
      '2.19',
      nullable((s) => s.description),
    ),
  },
  tags: {
    recordField: 'tags',
    create: since('2.52', z.array(type.tag).max(50).optional()),
    response: since(
      '2.26',
      field(z.array(z.string()).max(50), (s) => [...s.tags]),
    ),
  },
  trusted_image_certificates: {
    recordField: 'trustedCerts',
    ...inBuilds(since('2.63', type.trustedCerts.optional())),
    response: since(
      '2.63',
      field(z.array(z.string()).nullable(), (s) => s.trustedCerts && [...s.trustedCerts]),
    ),
  },
  locked_reason: {
    response: since(
      '2.73',
      nullable((s) => s.lock?.reason ?? null),
    ),
  },
  pinned_availability_zone: {
    recordField: 'pinnedZone',
    update: since('2.104', type.name.nullable().optional()),
    response: since(
      '2.96',
      nullable((s) => s.pinnedZone),
    ),
  },
  scheduler_hints: { response: since('2.100', field(z.record(z.string(), z.array(z.string())), hintsOf)) },
} as const satisfies Record<string, ServerField>;

/** Fields that lists and show always have, and responses to changes since 2.75. */
export const extendedFields = {
  config_drive: {
    recordField: 'configDrive',
    create: type.lenientBoolean.optional(),
    filter: {
      schema: filter.pattern,
      pattern: 'config_drive',
      sorts: 'config_drive',
      ...filter.forEveryoneSince('2.83', 'Filters servers by whether they have a config drive.'),
    },
    response: text((s) => (s.configDrive ? 'True' : '')),
  },
  key_name: {
    recordField: 'keyName',
    create: type.name.optional(),
    rebuild: since('2.54', type.name.nullable().optional()),
    filter: {
      schema: filter.pattern,
      pattern: 'key_name',
      sorts: 'key_name',
      ...filter.forEveryoneSince('2.83', 'Filters servers by key pair name.'),
    },
    response: nullable((s) => s.keyName),
  },
  'OS-SRV-USG:launched_at': { response: field(reply.nullableTime, (s) => reply.showNullableTime(s.launchedAt)) },
  'OS-SRV-USG:terminated_at': { response: field(reply.nullableTime, (s) => reply.showNullableTime(s.terminatedAt)) },
  'OS-EXT-AZ:availability_zone': { response: text((s, call) => zoneOf(s, call.loaded)) },
  'OS-EXT-STS:task_state': { response: nullable((s) => s.taskState) },
  'OS-EXT-STS:vm_state': { response: text((s) => s.vmState) },
  'OS-EXT-STS:power_state': { response: field(z.int(), (s) => s.powerState) },
  'os-extended-volumes:volumes_attached': { response: nestedList(attachedVolume, volumesOf) },
  security_groups: {
    create: z.array(z.strictObject({ name: type.name.optional() })).optional(),
    response: field(securityGroups.optional(), securityGroupsOf),
  },
  'OS-EXT-SRV-ATTR:host': { response: attribute(reply.nullableText, (s) => s.host) },
  'OS-EXT-SRV-ATTR:hypervisor_hostname': { response: attribute(reply.nullableText, (s) => s.node) },
  'OS-EXT-SRV-ATTR:instance_name': { response: attribute(z.string(), (s) => instanceNameOf(s.seq)) },
  'OS-EXT-SRV-ATTR:kernel_id': {
    response: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.kernelId),
    ),
  },
  'OS-EXT-SRV-ATTR:launch_index': {
    response: since(
      '2.3',
      attribute(z.int(), (s) => s.launchIndex),
    ),
  },
  'OS-EXT-SRV-ATTR:ramdisk_id': {
    response: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.ramdiskId),
    ),
  },
  'OS-EXT-SRV-ATTR:reservation_id': {
    response: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.reservationId),
    ),
  },
  'OS-EXT-SRV-ATTR:root_device_name': {
    response: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.rootDeviceName),
    ),
  },
  host_status: { response: since('2.16', field(hostStatus.optional(), hostStatusOf)) },
} as const satisfies Record<string, ServerField>;

/** Request fields that responses show elsewhere, under another name, or not at all. */
export const requestFields = {
  adminPass: { recordField: 'adminPassword', ...inBuilds(z.string().optional()) },
  imageRef: { recordField: 'imageId', create: z.union([z.literal(''), type.uuid]).optional(), rebuild: type.uuid },
  preserve_ephemeral: { recordField: 'preserveEphemeral', rebuild: type.lenientBoolean.optional() },
  availability_zone: {
    recordField: 'zone',
    create: type.name.optional(),
    filter: {
      schema: filter.pattern,
      pattern: 'availability_zone',
      sorts: 'availability_zone',
      ...filter.forEveryoneSince('2.83', 'Filters servers by availability zone.'),
    },
  },
  min_count: { recordField: 'minCount', create: type.positiveInteger.optional() },
  max_count: { recordField: 'maxCount', create: type.positiveInteger.optional() },
  user_data: {
    recordField: 'userData',
    create: type.userData.optional(),
    rebuild: since('2.57', type.userData.nullable().optional()),
  },
  personality: { recordField: 'files', ...inBuilds(until('2.56', type.personality.optional())) },
  host: { recordField: 'host', create: since('2.74', type.fqdn.optional()) },
  hypervisor_hostname: { recordField: 'hypervisorHostname', create: since('2.74', type.fqdn.optional()) },
  hostname: {
    recordField: 'hostname',
    ...inAllBodies([between('2.90', '2.93', type.hostnameLabel.optional()), since('2.94', type.fqdn.optional())]),
    filter: {
      schema: filter.pattern,
      pattern: 'hostname',
      sorts: 'hostname',
      ...filter.forEveryoneSince('2.90', 'Filters servers by hostname.'),
    },
  },
} as const satisfies Record<string, ServerField>;

/** The hostname: for administrators since the first version, for all callers since 2.90. */
export function hostnameSince(first: string): Windowed<Field> {
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

export const userDataField = since(
  '2.3',
  attribute(reply.nullableText, (s) => s.userData),
);
