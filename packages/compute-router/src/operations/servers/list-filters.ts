import { since, until } from '@apistrata/microversion';
import { many, one } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { dateTimeText } from '../../schemas/date-time.js';
import {
  addedIn,
  adminOnly,
  forEveryone,
  forEveryoneSince,
  type ListFilter,
  pattern,
  text,
} from '../../schemas/list-filter.js';
import { fieldFilters } from '../../views/server-request-fields.js';

const internal = {
  schema: text,
  internal: true,
  description: 'Refers to an internal record. Ignored for users, rejected for administrators.',
} as const;

/** Filters and sort keys of server lists. Filters on fields that requests can set are defined with those fields. */
export const listFilters = {
  ...fieldFilters,
  all_tenants: {
    schema: text,
    ...forEveryone(
      'Whether to list servers of all projects. Administrators only; rejected for other callers. Default: false.',
    ),
  },
  user_id: {
    schema: text,
    text: 'userId',
    sorts: 'user_id',
    ...forEveryoneSince('2.83', 'Filters servers by the user who created them.'),
  },
  project_id: { schema: text, sorts: 'project_id', description: 'Filters servers by project. Requires `all_tenants`.' },
  tenant_id: { schema: text, description: 'Alias of `project_id`.' },
  launch_index: {
    schema: text,
    pattern: 'launch_index',
    sorts: 'launch_index',
    ...adminOnly('Filters servers by launch index, starting with 0.'),
  },
  image: { schema: text, text: 'imageId', ...forEveryone('Filters servers by image UUID.') },
  image_ref: {
    schema: text,
    text: 'imageId',
    sorts: 'image_ref',
    description: 'Alias of `image`.',
  },
  kernel_id: {
    schema: pattern,
    pattern: 'kernel_id',
    sorts: 'kernel_id',
    ...adminOnly('Filters servers by the UUID of the kernel image.'),
  },
  ramdisk_id: {
    schema: pattern,
    pattern: 'ramdisk_id',
    sorts: 'ramdisk_id',
    ...adminOnly('Filters servers by the UUID of the RAM disk image.'),
  },
  power_state: {
    schema: pattern,
    pattern: 'power_state',
    sorts: 'power_state',
    ...forEveryoneSince('2.83', 'Filters servers by power state, as an integer.'),
  },
  vm_state: {
    schema: text,
    text: 'vmState',
    sorts: 'vm_state',
    ...forEveryoneSince('2.83', 'Filters servers by `vm_state`.'),
  },
  task_state: {
    schema: text,
    text: 'taskState',
    sorts: 'task_state',
    ...forEveryoneSince('2.83', 'Filters servers by task state.'),
  },
  host: { schema: text, text: 'host', sorts: 'host', ...adminOnly('Filters servers by host.') },
  node: { schema: pattern, pattern: 'node', sorts: 'node', ...adminOnly('Filters servers by hypervisor hostname.') },
  flavor: { schema: pattern, text: 'flavorId', ...forEveryone('Filters servers by flavor ID.') },
  instance_type_id: { sorts: 'instance_type_id' },
  reservation_id: { schema: pattern, pattern: 'reservation_id', ...forEveryone('Filters servers by reservation ID.') },
  launched_at: {
    schema: pattern,
    pattern: 'launched_at',
    sorts: 'launched_at',
    ...forEveryoneSince('2.83', 'Filters servers by launch time.'),
  },
  terminated_at: {
    schema: pattern,
    pattern: 'terminated_at',
    sorts: 'terminated_at',
    ...forEveryoneSince('2.83', 'Filters servers by deletion time.'),
  },
  updated_at: { sorts: 'updated_at' },
  name: { schema: pattern, pattern: 'name', ...forEveryone('Filters servers by name, as a regular expression.') },
  display_name: {
    schema: pattern,
    pattern: 'name',
    sorts: 'display_name',
    description: 'Alias of `name`.',
  },
  display_description: {
    schema: pattern,
    pattern: 'description',
    sorts: 'display_description',
    description: 'Alias of `description`.',
  },
  locked_by: {
    schema: pattern,
    pattern: 'locked_by',
    sorts: 'locked_by',
    ...adminOnly('Filters servers by lock holder: `owner` or `admin`.'),
  },
  uuid: { schema: text, text: 'id', sorts: 'uuid', ...adminOnly('Filters servers by UUID.') },
  root_device_name: {
    schema: pattern,
    pattern: 'root_device_name',
    sorts: 'root_device_name',
    ...adminOnly('Filters servers by the device name of the root disk.'),
  },
  access_ip_v4: {
    schema: pattern,
    pattern: 'access_ip_v4',
    sorts: 'access_ip_v4',
    ...adminOnly('Filters servers by `accessIPv4`.'),
  },
  access_ip_v6: {
    schema: pattern,
    pattern: 'access_ip_v6',
    sorts: 'access_ip_v6',
    ...adminOnly('Filters servers by `accessIPv6`.'),
  },
  auto_disk_config: {
    schema: pattern,
    pattern: 'auto_disk_config',
    sorts: 'auto_disk_config',
    ...adminOnly('Filters servers by disk configuration.'),
  },
  progress: {
    schema: pattern,
    pattern: 'progress',
    sorts: 'progress',
    ...forEveryoneSince('2.83', 'Filters servers by progress, in percent.'),
  },
  soft_deleted: {
    schema: text,
    description: 'Whether to list soft-deleted servers. Administrators only. Default: false.',
  },
  deleted: { schema: text, description: 'Whether to list deleted servers. Administrators only. Default: false.' },
  status: {
    schema: many(z.string()),
    ...forEveryone(
      'Filters servers by status. Can be repeated. An unknown status matches no server until 2.37, and returns 400 since 2.38.',
    ),
  },
  'changes-since': {
    schema: one(dateTimeText),
    ...forEveryone('Filters servers changed at or after this time (ISO 8601). Includes deleted servers.'),
  },
  'changes-before': addedIn(
    '2.66',
    one(dateTimeText),
    'Filters servers changed at or before this time (ISO 8601). Includes deleted servers.',
  ),
  ip: {
    schema: pattern,
    pattern: 'ip',
    ...forEveryone('Filters servers by IPv4 address, as a regular expression.'),
  },
  ip6: {
    schema: pattern,
    pattern: 'ip6',
    ...forEveryoneSince('2.5', 'Filters servers by IPv6 address, as a regular expression.'),
  },
  created_at: {
    schema: pattern,
    pattern: 'created_at',
    sorts: 'created_at',
    ...forEveryoneSince('2.83', 'Filters servers by creation time.'),
  },
  tags: {
    list: 'tags',
    ...addedIn('2.26', pattern, 'Filters servers that have all of these tags, separated by commas.'),
  },
  'tags-any': {
    list: 'tagsAny',
    ...addedIn('2.26', pattern, 'Filters servers that have at least one of these tags, separated by commas.'),
  },
  'not-tags': {
    list: 'notTags',
    ...addedIn('2.26', pattern, 'Filters servers that do not have all of these tags, separated by commas.'),
  },
  'not-tags-any': {
    list: 'notTagsAny',
    ...addedIn('2.26', pattern, 'Filters servers that have none of these tags, separated by commas.'),
  },
  locked: {
    ...addedIn('2.73', text, 'Filters servers by whether they are locked.'),
    sorts: [until('2.72', null), since('2.73', 'locked')],
  },
  block_device_mapping: internal,
  services: internal,
  metadata: internal,
  system_metadata: internal,
  info_cache: internal,
  security_groups: internal,
  pci_devices: internal,
} as const satisfies Readonly<Record<string, ListFilter>>;
