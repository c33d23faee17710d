import { since, until } from '@apistrata/microversion';
import { described, many, one } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { dateTimeText } from '../../schemas/date-time.js';
import {
  addedIn,
  adminOnly,
  forEveryone,
  forEveryoneSince,
  type ListFilter,
  patternSchema,
  textSchema,
} from '../../schemas/list-filter.js';
import { fieldFilters } from '../../views/server-request-fields.js';

const internalFilter = {
  schema: described(
    'Internal field that cannot be used as a filter. Rejected for administrators; ignored for other callers.',
    textSchema,
  ),
  internal: true,
} as const;

/**
 * Filters and sort keys for server lists. Filters for fields that requests can set are defined together with those
 * fields.
 */
export const listFilters = {
  ...fieldFilters,
  all_tenants: {
    ...forEveryone(
      'Whether to list the servers of all projects. Administrators only; rejected for other callers. Default: false.',
      textSchema,
    ),
  },
  user_id: {
    text: 'userId',
    sorts: 'user_id',
    ...forEveryoneSince('2.83', 'Filters servers by the ID of the user who created them.', textSchema),
  },
  project_id: {
    sorts: 'project_id',
    schema: described('Filters servers by project. Ignored unless `all_tenants` is true.', textSchema),
  },
  tenant_id: { schema: described('Alias of `project_id`.', textSchema) },
  launch_index: {
    pattern: 'launch_index',
    sorts: 'launch_index',
    ...adminOnly(
      'Filters servers by launch index: their position among the servers created by the same request, starting with 0.',
      textSchema,
    ),
  },
  image: { text: 'imageId', ...forEveryone('Filters servers by image UUID.', textSchema) },
  image_ref: {
    text: 'imageId',
    sorts: 'image_ref',
    schema: described('Alias of `image`.', textSchema),
  },
  kernel_id: {
    pattern: 'kernel_id',
    sorts: 'kernel_id',
    ...adminOnly('Filters servers by the UUID of the kernel image.', patternSchema),
  },
  ramdisk_id: {
    pattern: 'ramdisk_id',
    sorts: 'ramdisk_id',
    ...adminOnly('Filters servers by the UUID of the RAM disk image.', patternSchema),
  },
  power_state: {
    pattern: 'power_state',
    sorts: 'power_state',
    ...forEveryoneSince('2.83', 'Filters servers by power state, which is an integer.', patternSchema),
  },
  vm_state: {
    text: 'vmState',
    sorts: 'vm_state',
    ...forEveryoneSince('2.83', 'Filters servers by virtual machine state (`vm_state`).', textSchema),
  },
  task_state: {
    text: 'taskState',
    sorts: 'task_state',
    ...forEveryoneSince('2.83', 'Filters servers by task state.', textSchema),
  },
  host: { text: 'host', sorts: 'host', ...adminOnly('Filters servers by host.', textSchema) },
  node: { pattern: 'node', sorts: 'node', ...adminOnly('Filters servers by hypervisor hostname.', patternSchema) },
  flavor: { text: 'flavorId', ...forEveryone('Filters servers by flavor ID.', patternSchema) },
  instance_type_id: { sorts: 'instance_type_id' },
  reservation_id: { pattern: 'reservation_id', ...forEveryone('Filters servers by reservation ID.', patternSchema) },
  launched_at: {
    pattern: 'launched_at',
    sorts: 'launched_at',
    ...forEveryoneSince('2.83', 'Filters servers by launch time.', patternSchema),
  },
  terminated_at: {
    pattern: 'terminated_at',
    sorts: 'terminated_at',
    ...forEveryoneSince('2.83', 'Filters servers by deletion time.', patternSchema),
  },
  updated_at: { sorts: 'updated_at' },
  name: {
    pattern: 'name',
    ...forEveryone('Filters servers by name. The value is a regular expression.', patternSchema),
  },
  display_name: {
    pattern: 'name',
    sorts: 'display_name',
    schema: described('Alias of `name`.', patternSchema),
  },
  display_description: {
    pattern: 'description',
    sorts: 'display_description',
    schema: described('Alias of `description`.', patternSchema),
  },
  locked_by: {
    pattern: 'locked_by',
    sorts: 'locked_by',
    ...adminOnly('Filters servers by the kind of caller that locked them: `owner` or `admin`.', patternSchema),
  },
  uuid: { text: 'id', sorts: 'uuid', ...adminOnly('Filters servers by UUID.', textSchema) },
  root_device_name: {
    pattern: 'root_device_name',
    sorts: 'root_device_name',
    ...adminOnly('Filters servers by the device name of the root disk.', patternSchema),
  },
  access_ip_v4: {
    pattern: 'access_ip_v4',
    sorts: 'access_ip_v4',
    ...adminOnly('Filters servers by `accessIPv4`.', patternSchema),
  },
  access_ip_v6: {
    pattern: 'access_ip_v6',
    sorts: 'access_ip_v6',
    ...adminOnly('Filters servers by `accessIPv6`.', patternSchema),
  },
  auto_disk_config: {
    pattern: 'auto_disk_config',
    sorts: 'auto_disk_config',
    ...adminOnly('Filters servers by disk configuration.', patternSchema),
  },
  progress: {
    pattern: 'progress',
    sorts: 'progress',
    ...forEveryoneSince('2.83', 'Filters servers by progress, in percent.', patternSchema),
  },
  soft_deleted: {
    schema: described(
      'Whether to include soft-deleted servers. Administrators only; ignored for other callers. Default: false.',
      textSchema,
    ),
  },
  deleted: {
    schema: described(
      'Whether to list only deleted and soft-deleted servers. Administrators only; ignored for other callers. Default: false.',
      textSchema,
    ),
  },
  status: {
    ...forEveryone(
      'Filters servers by status. Can be repeated. Unknown statuses are ignored; if all are unknown, the list is empty until 2.37, and the response is 400 since 2.38.',
      many(z.string()),
    ),
  },
  'changes-since': {
    ...forEveryone(
      'Returns only servers whose last change was at or after this time (ISO 8601). Includes deleted servers unless `deleted` is false.',
      one(dateTimeText),
    ),
  },
  'changes-before': addedIn(
    '2.66',
    'Returns only servers whose last change was at or before this time (ISO 8601). Includes deleted servers unless `deleted` is false.',
    one(dateTimeText),
  ),
  ip: {
    pattern: 'ip',
    ...forEveryone('Filters servers by IPv4 address. The value is a regular expression.', patternSchema),
  },
  ip6: {
    pattern: 'ip6',
    ...forEveryoneSince('2.5', 'Filters servers by IPv6 address. The value is a regular expression.', patternSchema),
  },
  created_at: {
    pattern: 'created_at',
    sorts: 'created_at',
    ...forEveryoneSince('2.83', 'Filters servers by creation time.', patternSchema),
  },
  tags: {
    list: 'tags',
    ...addedIn('2.26', 'Returns only servers that have all tags in this comma-separated list.', patternSchema),
  },
  'tags-any': {
    list: 'tagsAny',
    ...addedIn('2.26', 'Returns only servers that have at least one tag in this comma-separated list.', patternSchema),
  },
  'not-tags': {
    list: 'notTags',
    ...addedIn('2.26', 'Returns only servers that lack at least one tag in this comma-separated list.', patternSchema),
  },
  'not-tags-any': {
    list: 'notTagsAny',
    ...addedIn('2.26', 'Returns only servers that have none of the tags in this comma-separated list.', patternSchema),
  },
  locked: {
    ...addedIn(
      '2.73',
      'Whether to return only locked servers (`true`) or only unlocked servers (`false`).',
      textSchema,
    ),
    sorts: [until('2.72', null), since('2.73', 'locked')],
  },
  block_device_mapping: internalFilter,
  services: internalFilter,
  metadata: internalFilter,
  system_metadata: internalFilter,
  info_cache: internalFilter,
  security_groups: internalFilter,
  pci_devices: internalFilter,
} as const satisfies Readonly<Record<string, ListFilter>>;
