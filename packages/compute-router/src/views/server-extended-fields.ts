import type { Server } from '@apistrata/compute-engine';
import { zoneOf } from '@apistrata/compute-engine/api';
import { between, since, type Windowed } from '@apistrata/microversion';
import { type Described, described } from '@apistrata/microversion/schema';
import { nestedList, type ViewField } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import * as filter from '../schemas/list-filter.js';
import * as reply from '../schemas/reply-types.js';
import * as type from '../schemas/types.js';
import { field, nullableText, text } from './fields.js';
import { instanceNameOf } from './instance-name.js';
import { extendedAttribute, type ServerField } from './server-field.js';
import { attachedVolume, securityGroups, securityGroupsOf, viewPermissionsOf, volumesOf } from './server-parts.js';

const hostStatusSchema = z.enum(['UP', 'DOWN', 'MAINTENANCE', 'UNKNOWN', '']);

function hostStatusOf(server: Server, call: HostsCall): z.infer<typeof hostStatusSchema> | undefined {
  const permissions = viewPermissionsOf(call);
  if (!permissions.hostStatus && !permissions.unknownHostStatus) return undefined;
  const host = server.deleted ? null : server.host;
  const status = (host !== null && call.loaded.hosts.get(host)?.status) || '';
  return permissions.hostStatus || status === 'UNKNOWN' ? status : undefined;
}

/**
 * Server fields in lists and in the response to `showServer` and, since 2.75, in the responses to update and rebuild
 * requests.
 */
export const extendedFields = {
  config_drive: {
    recordField: 'configDrive',
    create: described('Whether to provide metadata on a config drive. Default: false.', type.lenientBoolean.optional()),
    filter: {
      pattern: 'config_drive',
      sorts: 'config_drive',
      ...filter.forEveryoneSince('2.83', 'Filters servers by whether they have a config drive.', filter.patternSchema),
    },
    response: text('`True` if the server has a config drive, otherwise empty.', (s) => (s.configDrive ? 'True' : '')),
  },
  key_name: {
    recordField: 'keyName',
    create: described(
      "Name of one of the caller's key pairs. Its public key is injected into the guest.",
      type.name.optional(),
    ),
    rebuild: since(
      '2.54',
      described(
        "Name of one of the caller's key pairs, which replaces the current one, or null to remove the key pair.",
        type.name.nullable().optional(),
      ),
    ),
    filter: {
      pattern: 'key_name',
      sorts: 'key_name',
      ...filter.forEveryoneSince('2.83', 'Filters servers by key pair name.', filter.patternSchema),
    },
    response: nullableText('Name of the key pair, or null.', (s) => s.keyName),
  },
  'OS-SRV-USG:launched_at': {
    response: field(
      'Time when the server was launched, in UTC with microsecond precision. Null until it is launched.',
      reply.nullableTime,
      (s) => reply.formatNullableTime(s.launchedAt),
    ),
  },
  'OS-SRV-USG:terminated_at': {
    response: field(
      'Time when the server was deleted, in UTC with microsecond precision. Null if the server is not deleted.',
      reply.nullableTime,
      (s) => reply.formatNullableTime(s.terminatedAt),
    ),
  },
  'OS-EXT-AZ:availability_zone': {
    response: text(
      'Availability zone of the host. Until a host is selected, the requested zone, or an empty string.',
      (s, call) => zoneOf(s, call.loaded),
    ),
  },
  'OS-EXT-STS:task_state': {
    response: nullableText('Task in progress, such as `spawning`, or null.', (s) => s.taskState),
  },
  'OS-EXT-STS:vm_state': {
    response: text(
      'State of the server, independent of tasks in progress, such as `active`, `stopped` or `error`.',
      (s) => s.vmState,
    ),
  },
  'OS-EXT-STS:power_state': {
    response: field(
      'Power state that the hypervisor reports: 0 (no state), 1 (running), 3 (paused), 4 (shut down), 6 (crashed) or 7 (suspended).',
      z.int(),
      (s) => s.powerState,
    ),
  },
  'os-extended-volumes:volumes_attached': {
    response: described('Attached volumes.', nestedList(attachedVolume, volumesOf)),
  },
  security_groups: {
    create: described(
      'Security groups for the ports that the request creates. Default: the security group `default`.',
      z.array(z.strictObject({ name: type.name.optional().describe('Name or UUID of a security group.') })).optional(),
    ),
    response: field(
      'Security groups of the ports. Absent if the ports do not have security groups.',
      securityGroups.optional(),
      securityGroupsOf,
    ),
  },
  'OS-EXT-SRV-ATTR:host': {
    response: extendedAttribute('Name of the host, or null. Administrators only.', reply.nullableText, (s) => s.host),
  },
  'OS-EXT-SRV-ATTR:hypervisor_hostname': {
    response: extendedAttribute(
      'Hostname of the hypervisor, or null. Administrators only.',
      reply.nullableText,
      (s) => s.node,
    ),
  },
  'OS-EXT-SRV-ATTR:instance_name': {
    response: extendedAttribute('Name of the instance on the hypervisor. Administrators only.', z.string(), (s) =>
      instanceNameOf(s.seq),
    ),
  },
  'OS-EXT-SRV-ATTR:kernel_id': {
    response: since(
      '2.3',
      extendedAttribute(
        'UUID of the kernel image. Empty or null if the server does not have one. Administrators only.',
        reply.nullableText,
        (s) => s.kernelId,
      ),
    ),
  },
  'OS-EXT-SRV-ATTR:launch_index': {
    response: since(
      '2.3',
      extendedAttribute(
        'Position of the server among those that the same request created, starting with 0. Administrators only.',
        z.int(),
        (s) => s.launchIndex,
      ),
    ),
  },
  'OS-EXT-SRV-ATTR:ramdisk_id': {
    response: since(
      '2.3',
      extendedAttribute(
        'UUID of the RAM disk image. Empty or null if the server does not have one. Administrators only.',
        reply.nullableText,
        (s) => s.ramdiskId,
      ),
    ),
  },
  'OS-EXT-SRV-ATTR:reservation_id': {
    response: since(
      '2.3',
      extendedAttribute(
        'ID shared by all servers from one create request. Administrators only.',
        reply.nullableText,
        (s) => s.reservationId,
      ),
    ),
  },
  'OS-EXT-SRV-ATTR:root_device_name': {
    response: since(
      '2.3',
      extendedAttribute(
        'Device name of the root disk, such as `/dev/vda`. Administrators only.',
        reply.nullableText,
        (s) => s.rootDeviceName,
      ),
    ),
  },
  host_status: {
    response: since(
      '2.16',
      field(
        'Status of the host: `UP`, `DOWN`, `MAINTENANCE`, `UNKNOWN`, or empty if the server has no host. Present only if the policy allows the caller to read it.',
        hostStatusSchema.optional(),
        hostStatusOf,
      ),
    ),
  },
} as const satisfies Record<string, ServerField>;

const HOSTNAME_DESCRIPTION = 'Hostname of the server. Until 2.89, administrators only; since 2.90, all callers.';

/** Defines the hostname field, which administrators see since the version `first`, and all callers since 2.90. */
export function hostnameFieldSince(first: string): Windowed<Described<ViewField<Server, HostsCall>>> {
  return [
    between(
      first,
      '2.89',
      extendedAttribute(HOSTNAME_DESCRIPTION, z.string(), (s) => s.hostname),
    ),
    since(
      '2.90',
      text(HOSTNAME_DESCRIPTION, (s) => s.hostname),
    ),
  ];
}

export const userDataField = since(
  '2.3',
  extendedAttribute('User data, Base64-encoded, or null. Administrators only.', reply.nullableText, (s) => s.userData),
);
