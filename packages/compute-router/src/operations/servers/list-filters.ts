import { since, until } from '@apistrata/microversion';
import { many, one } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { dateTimeText } from '../../schemas/date-time.js';
import { added, closed, type ListFilter, open, opened, pattern, text } from '../../schemas/list-filter.js';
import { fieldFilters } from '../../views/server-request-fields.js';

const internal = {
  given: text,
  internal: true,
  words: 'Refers to an internal record. Ignored for users, rejected for administrators.',
} as const;

/** Filters and sort keys of server lists. Filters on fields that requests can set are defined with those fields. */
export const listFilters = {
  ...fieldFilters,
  all_tenants: {
    given: text,
    ...open(
      'Whether to list servers of all projects. Administrators only; rejected for other callers. Default: false.',
    ),
  },
  user_id: {
    given: text,
    text: 'userId',
    sorts: 'user_id',
    ...opened('2.83', 'Filters servers by the user who created them.'),
  },
  project_id: { given: text, sorts: 'project_id', words: 'Filters servers by project. Requires `all_tenants`.' },
  tenant_id: { given: text, words: 'Alias of `project_id`.' },
  launch_index: {
    given: text,
    pattern: 'launch_index',
    sorts: 'launch_index',
    ...closed('Filters servers by launch index, starting with 0.'),
  },
  image: { given: text, text: 'imageId', ...open('Filters servers by image UUID.') },
  image_ref: {
    given: text,
    text: 'imageId',
    sorts: 'image_ref',
    words: 'Alias of `image`.',
  },
  kernel_id: {
    given: pattern,
    pattern: 'kernel_id',
    sorts: 'kernel_id',
    ...closed('Filters servers by the UUID of the kernel image.'),
  },
  ramdisk_id: {
    given: pattern,
    pattern: 'ramdisk_id',
    sorts: 'ramdisk_id',
    ...closed('Filters servers by the UUID of the RAM disk image.'),
  },
  power_state: {
    given: pattern,
    pattern: 'power_state',
    sorts: 'power_state',
    ...opened('2.83', 'Filters servers by power state, as an integer.'),
  },
  vm_state: {
    given: text,
    text: 'vmState',
    sorts: 'vm_state',
    ...opened('2.83', 'Filters servers by `vm_state`.'),
  },
  task_state: {
    given: text,
    text: 'taskState',
    sorts: 'task_state',
    ...opened('2.83', 'Filters servers by task state.'),
  },
  host: { given: text, text: 'host', sorts: 'host', ...closed('Filters servers by host.') },
  node: { given: pattern, pattern: 'node', sorts: 'node', ...closed('Filters servers by hypervisor hostname.') },
  flavor: { given: pattern, text: 'flavorId', ...open('Filters servers by flavor ID.') },
  instance_type_id: { sorts: 'instance_type_id' },
  reservation_id: { given: pattern, pattern: 'reservation_id', ...open('Filters servers by reservation ID.') },
  launched_at: {
    given: pattern,
    pattern: 'launched_at',
    sorts: 'launched_at',
    ...opened('2.83', 'Filters servers by launch time.'),
  },
  terminated_at: {
    given: pattern,
    pattern: 'terminated_at',
    sorts: 'terminated_at',
    ...opened('2.83', 'Filters servers by deletion time.'),
  },
  updated_at: { sorts: 'updated_at' },
  name: { given: pattern, pattern: 'name', ...open('Filters servers by name, as a regular expression.') },
  display_name: {
    given: pattern,
    pattern: 'name',
    sorts: 'display_name',
    words: 'Alias of `name`.',
  },
  display_description: {
    given: pattern,
    pattern: 'description',
    sorts: 'display_description',
    words: 'Alias of `description`.',
  },
  locked_by: {
    given: pattern,
    pattern: 'locked_by',
    sorts: 'locked_by',
    ...closed('Filters servers by lock holder: `owner` or `admin`.'),
  },
  uuid: { given: text, text: 'id', sorts: 'uuid', ...closed('Filters servers by UUID.') },
  root_device_name: {
    given: pattern,
    pattern: 'root_device_name',
    sorts: 'root_device_name',
    ...closed('Filters servers by the device name of the root disk.'),
  },
  access_ip_v4: {
    given: pattern,
    pattern: 'access_ip_v4',
    sorts: 'access_ip_v4',
    ...closed('Filters servers by `accessIPv4`.'),
  },
  access_ip_v6: {
    given: pattern,
    pattern: 'access_ip_v6',
    sorts: 'access_ip_v6',
    ...closed('Filters servers by `accessIPv6`.'),
  },
  auto_disk_config: {
    given: pattern,
    pattern: 'auto_disk_config',
    sorts: 'auto_disk_config',
    ...closed('Filters servers by disk configuration.'),
  },
  progress: {
    given: pattern,
    pattern: 'progress',
    sorts: 'progress',
    ...opened('2.83', 'Filters servers by progress, in percent.'),
  },
  soft_deleted: {
    given: text,
    words: 'Whether to list soft-deleted servers. Administrators only. Default: false.',
  },
  deleted: { given: text, words: 'Whether to list deleted servers. Administrators only. Default: false.' },
  status: {
    given: many(z.string()),
    ...open(
      'Filters servers by status. Can be repeated. An unknown status matches no server until 2.37, and returns 400 since 2.38.',
    ),
  },
  'changes-since': {
    given: one(dateTimeText),
    ...open('Filters servers changed at or after this time (ISO 8601). Includes deleted servers.'),
  },
  'changes-before': added(
    '2.66',
    one(dateTimeText),
    'Filters servers changed at or before this time (ISO 8601). Includes deleted servers.',
  ),
  ip: {
    given: pattern,
    pattern: 'ip',
    ...open('Filters servers by IPv4 address, as a regular expression.'),
  },
  ip6: {
    given: pattern,
    pattern: 'ip6',
    ...opened('2.5', 'Filters servers by IPv6 address, as a regular expression.'),
  },
  created_at: {
    given: pattern,
    pattern: 'created_at',
    sorts: 'created_at',
    ...opened('2.83', 'Filters servers by creation time.'),
  },
  tags: {
    list: 'tags',
    ...added('2.26', pattern, 'Filters servers that have all of these tags, separated by commas.'),
  },
  'tags-any': {
    list: 'tagsAny',
    ...added('2.26', pattern, 'Filters servers that have at least one of these tags, separated by commas.'),
  },
  'not-tags': {
    list: 'notTags',
    ...added('2.26', pattern, 'Filters servers that do not have all of these tags, separated by commas.'),
  },
  'not-tags-any': {
    list: 'notTagsAny',
    ...added('2.26', pattern, 'Filters servers that have none of these tags, separated by commas.'),
  },
  locked: {
    ...added('2.73', text, 'Filters servers by whether they are locked.'),
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
