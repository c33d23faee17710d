import type { Server } from '@apistrata/compute-engine';
import type { RequestOf } from '@apistrata/compute-engine/actions';
import { type NewServer, statusOf, zoneOf } from '@apistrata/compute-engine/api';
import { between, since, until, type Windowed } from '@apistrata/microversion';
import { field, nested, nestedList, type ViewField } from '@apistrata/microversion/router';
import type { AnySchema } from '@apistrata/microversion/schema';
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

/** Requests that say what a server is to be like. */
export type ServerRequest = 'create' | 'update' | 'rebuild';

/** All there is to say of a field: what requests take for it, where that goes, and how answers show it. */
export interface ServerField extends Readonly<Partial<Record<ServerRequest, Windowed<AnySchema>>>> {
  /** Name that the engine has for it, in its requests and its records. Without it the handlers say what becomes of it. */
  readonly kept?: keyof NewServer | keyof RequestOf<'rebuild'> | keyof Server;
  readonly shown?: Windowed<Field>;
  /** Where lists can be filtered or sorted by it, under its name. */
  readonly filter?: filter.ListFilter;
}

const text = (get: (server: Server, call: HostsCall) => string): Field => field(z.string(), get);
const nullable = (get: (server: Server, call: HostsCall) => string | null): Field => field(reply.nullableText, get);

/** A field that only those see who may see extended attributes. */
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

/** The same in every request that builds a server. */
const inBuilds = <const S>(schema: S) => ({ create: schema, rebuild: schema }) as const;
/** The same in all requests. */
const inAll = <const S>(schema: S) => ({ ...inBuilds(schema), update: schema }) as const;

const PROGRESSING = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

/** What every full representation shows, in this order. */
export const commonFields = {
  id: { shown: text((s) => s.id) },
  name: { kept: 'name', ...inAll(type.name.optional()), create: type.name, shown: text((s) => s.name) },
  status: { shown: text((s) => statusOf(s)) },
  tenant_id: { shown: text((s) => s.projectId) },
  user_id: { shown: text((s) => s.userId) },
  metadata: { kept: 'metadata', ...inBuilds(type.metadata.optional()), shown: field(reply.textMap, (s) => s.metadata) },
  hostId: { shown: text((s) => hostIdOf(s.projectId, s.host)) },
  image: { shown: imageField },
  flavor: { shown: nested(embeddedFlavor, (s) => s.flavor) },
  created: { shown: field(reply.serverTime, (s) => reply.showServerTime(s.createdAt)) },
  updated: { shown: field(reply.serverTime, (s) => reply.showServerTime(s.updatedAt ?? s.createdAt)) },
  accessIPv4: { kept: 'accessIpV4', ...inAll(type.ipv4.optional()), shown: text((s) => s.accessIpV4) },
  accessIPv6: { kept: 'accessIpV6', ...inAll(type.ipv6.optional()), shown: text((s) => s.accessIpV6) },
  links: { shown: linksTo('servers') },
  'OS-DCF:diskConfig': { kept: 'diskConfig', ...inAll(type.diskConfig.optional()), shown: text((s) => s.diskConfig) },
  fault: { shown: field(fault.optional(), (s, call) => faultOf(s, statusOf(s), call.context.isAdmin)) },
  progress: { shown: field(z.int().optional(), (s) => (PROGRESSING.has(statusOf(s)) ? s.progress : undefined)) },
  locked: {
    shown: since(
      '2.9',
      field(z.boolean(), (s) => s.lock !== null),
    ),
  },
  description: {
    kept: 'description',
    ...inAll(since('2.19', type.description().optional())),
    filter: {
      given: filter.pattern,
      pattern: 'description',
      ...filter.closed('Filters servers by description, as a regular expression.'),
    },
    shown: since(
      '2.19',
      nullable((s) => s.description),
    ),
  },
  tags: {
    kept: 'tags',
    create: since('2.52', z.array(type.tag).max(50).optional()),
    shown: since(
      '2.26',
      field(z.array(z.string()).max(50), (s) => [...s.tags]),
    ),
  },
  trusted_image_certificates: {
    kept: 'trustedCerts',
    ...inBuilds(since('2.63', type.trustedCerts.optional())),
    shown: since(
      '2.63',
      field(z.array(z.string()).nullable(), (s) => s.trustedCerts && [...s.trustedCerts]),
    ),
  },
  locked_reason: {
    shown: since(
      '2.73',
      nullable((s) => s.lock?.reason ?? null),
    ),
  },
  pinned_availability_zone: {
    kept: 'pinnedZone',
    update: since('2.104', type.name.nullable().optional()),
    shown: since(
      '2.96',
      nullable((s) => s.pinnedZone),
    ),
  },
  scheduler_hints: { shown: since('2.100', field(z.record(z.string(), z.array(z.string())), hintsOf)) },
} as const satisfies Record<string, ServerField>;

/** What lists and show always had, and the answers to changes from 2.75 on. */
export const extendedFields = {
  config_drive: {
    kept: 'configDrive',
    create: type.boolish.optional(),
    filter: {
      given: filter.pattern,
      pattern: 'config_drive',
      sorts: 'config_drive',
      ...filter.opened('2.83', 'Filters servers by whether they have a config drive.'),
    },
    shown: text((s) => (s.configDrive ? 'True' : '')),
  },
  key_name: {
    kept: 'keyName',
    create: type.name.optional(),
    rebuild: since('2.54', type.name.nullable().optional()),
    filter: {
      given: filter.pattern,
      pattern: 'key_name',
      sorts: 'key_name',
      ...filter.opened('2.83', 'Filters servers by key pair name.'),
    },
    shown: nullable((s) => s.keyName),
  },
  'OS-SRV-USG:launched_at': { shown: field(reply.nullableTime, (s) => reply.showNullableTime(s.launchedAt)) },
  'OS-SRV-USG:terminated_at': { shown: field(reply.nullableTime, (s) => reply.showNullableTime(s.terminatedAt)) },
  'OS-EXT-AZ:availability_zone': { shown: text((s, call) => zoneOf(s, call.loaded)) },
  'OS-EXT-STS:task_state': { shown: nullable((s) => s.taskState) },
  'OS-EXT-STS:vm_state': { shown: text((s) => s.vmState) },
  'OS-EXT-STS:power_state': { shown: field(z.int(), (s) => s.powerState) },
  'os-extended-volumes:volumes_attached': { shown: nestedList(attachedVolume, volumesOf) },
  security_groups: {
    create: z.array(z.strictObject({ name: type.name.optional() })).optional(),
    shown: field(securityGroups.optional(), securityGroupsOf),
  },
  'OS-EXT-SRV-ATTR:host': { shown: attribute(reply.nullableText, (s) => s.host) },
  'OS-EXT-SRV-ATTR:hypervisor_hostname': { shown: attribute(reply.nullableText, (s) => s.node) },
  'OS-EXT-SRV-ATTR:instance_name': { shown: attribute(z.string(), (s) => instanceNameOf(s.seq)) },
  'OS-EXT-SRV-ATTR:kernel_id': {
    shown: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.kernelId),
    ),
  },
  'OS-EXT-SRV-ATTR:launch_index': {
    shown: since(
      '2.3',
      attribute(z.int(), (s) => s.launchIndex),
    ),
  },
  'OS-EXT-SRV-ATTR:ramdisk_id': {
    shown: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.ramdiskId),
    ),
  },
  'OS-EXT-SRV-ATTR:reservation_id': {
    shown: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.reservationId),
    ),
  },
  'OS-EXT-SRV-ATTR:root_device_name': {
    shown: since(
      '2.3',
      attribute(reply.nullableText, (s) => s.rootDeviceName),
    ),
  },
  host_status: { shown: since('2.16', field(hostStatus.optional(), hostStatusOf)) },
} as const satisfies Record<string, ServerField>;

/** What requests say and answers show elsewhere, under another name, or not at all. */
export const requestFields = {
  adminPass: { kept: 'adminPassword', ...inBuilds(z.string().optional()) },
  imageRef: { kept: 'imageId', create: z.union([z.literal(''), type.uuid]).optional(), rebuild: type.uuid },
  preserve_ephemeral: { kept: 'preserveEphemeral', rebuild: type.boolish.optional() },
  availability_zone: {
    kept: 'zone',
    create: type.name.optional(),
    filter: {
      given: filter.pattern,
      pattern: 'availability_zone',
      sorts: 'availability_zone',
      ...filter.opened('2.83', 'Filters servers by availability zone.'),
    },
  },
  min_count: { kept: 'minCount', create: type.posint.optional() },
  max_count: { kept: 'maxCount', create: type.posint.optional() },
  user_data: {
    kept: 'userData',
    create: type.userData.optional(),
    rebuild: since('2.57', type.userData.nullable().optional()),
  },
  personality: { kept: 'files', ...inBuilds(until('2.56', type.personality.optional())) },
  host: { kept: 'host', create: since('2.74', type.fqdn.optional()) },
  hypervisor_hostname: { kept: 'hypervisorHostname', create: since('2.74', type.fqdn.optional()) },
  hostname: {
    kept: 'hostname',
    ...inAll([between('2.90', '2.93', type.hostnameLabel.optional()), since('2.94', type.fqdn.optional())]),
    filter: {
      given: filter.pattern,
      pattern: 'hostname',
      sorts: 'hostname',
      ...filter.opened('2.90', 'Filters servers by hostname.'),
    },
  },
} as const satisfies Record<string, ServerField>;

/** The host name: for administrators from some version on, for everybody from 2.90. */
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
