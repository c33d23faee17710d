import { since, until } from '@apistrata/microversion';
import { many, one } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { dateTimeText } from '../../schemas/date-time.js';
import { added, closed, type ListFilter, open, opened, pattern, text } from '../../schemas/list-filter.js';
import { fieldFilters } from '../../views/server-request-fields.js';

const internal = {
  given: text,
  internal: true,
  words: 'Would reach into internal records: left out of account, and refused to administrators',
} as const;

/** What lists of servers can be filtered and sorted by. Filters by what requests can set stand with those fields. */
export const listFilters = {
  ...fieldFilters,
  all_tenants: {
    given: text,
    ...open('Whether servers of all projects are meant; for administrators, for others refused'),
  },
  user_id: { given: text, text: 'userId', sorts: 'user_id', ...opened('2.83', 'Only those that this user created') },
  project_id: { given: text, sorts: 'project_id', words: 'Only those of this project; needs `all_tenants`' },
  tenant_id: { given: text, words: 'The same as `project_id`, by its older name' },
  launch_index: {
    given: text,
    pattern: 'launch_index',
    sorts: 'launch_index',
    ...closed('Only those at this place among those created together, from 0'),
  },
  image: { given: text, text: 'imageId', ...open('Only those created from this image, by id') },
  image_ref: {
    given: text,
    text: 'imageId',
    sorts: 'image_ref',
    words: 'The same as `image`, by the name of the column',
  },
  kernel_id: {
    given: pattern,
    pattern: 'kernel_id',
    sorts: 'kernel_id',
    ...closed('Only those with this image of a kernel'),
  },
  ramdisk_id: {
    given: pattern,
    pattern: 'ramdisk_id',
    sorts: 'ramdisk_id',
    ...closed('Only those with this image of an initial disk in memory'),
  },
  power_state: {
    given: pattern,
    pattern: 'power_state',
    sorts: 'power_state',
    ...opened('2.83', 'Only those in this power state, a number'),
  },
  vm_state: {
    given: text,
    text: 'vmState',
    sorts: 'vm_state',
    ...opened('2.83', 'Only those in this state apart from the task'),
  },
  task_state: {
    given: text,
    text: 'taskState',
    sorts: 'task_state',
    ...opened('2.83', 'Only those in this task state'),
  },
  host: { given: text, text: 'host', sorts: 'host', ...closed('Only those on this host') },
  node: { given: pattern, pattern: 'node', sorts: 'node', ...closed('Only those on this hypervisor') },
  flavor: { given: pattern, text: 'flavorId', ...open('Only those of this flavor, by id') },
  instance_type_id: { sorts: 'instance_type_id' },
  reservation_id: { given: pattern, pattern: 'reservation_id', ...open('Only those created by this order') },
  launched_at: {
    given: pattern,
    pattern: 'launched_at',
    sorts: 'launched_at',
    ...opened('2.83', 'Only those first run at this time'),
  },
  terminated_at: {
    given: pattern,
    pattern: 'terminated_at',
    sorts: 'terminated_at',
    ...opened('2.83', 'Only those deleted at this time'),
  },
  updated_at: { sorts: 'updated_at' },
  name: { given: pattern, pattern: 'name', ...open('Only those whose name matches this regular expression') },
  display_name: {
    given: pattern,
    pattern: 'name',
    sorts: 'display_name',
    words: 'The same as `name`, by the name of the column',
  },
  display_description: {
    given: pattern,
    pattern: 'description',
    sorts: 'display_description',
    words: 'The same as `description`, by the name of the column',
  },
  locked_by: {
    given: pattern,
    pattern: 'locked_by',
    sorts: 'locked_by',
    ...closed('Only those locked by `owner` or `admin`'),
  },
  uuid: { given: text, text: 'id', sorts: 'uuid', ...closed('Only those with this id') },
  root_device_name: {
    given: pattern,
    pattern: 'root_device_name',
    sorts: 'root_device_name',
    ...closed('Only those with this device as root disk'),
  },
  access_ip_v4: {
    given: pattern,
    pattern: 'access_ip_v4',
    sorts: 'access_ip_v4',
    ...closed('Only those with this IPv4 address for access'),
  },
  access_ip_v6: {
    given: pattern,
    pattern: 'access_ip_v6',
    sorts: 'access_ip_v6',
    ...closed('Only those with this IPv6 address for access'),
  },
  auto_disk_config: {
    given: pattern,
    pattern: 'auto_disk_config',
    sorts: 'auto_disk_config',
    ...closed('Only those whose file system grows with the disk, or does not'),
  },
  progress: {
    given: pattern,
    pattern: 'progress',
    sorts: 'progress',
    ...opened('2.83', 'Only those at this percentage'),
  },
  soft_deleted: {
    given: text,
    words: 'Whether servers that are kept for a while after their deletion are meant; for administrators',
  },
  deleted: { given: text, words: 'Whether deleted servers are meant; for administrators' },
  status: {
    given: many(z.string()),
    ...open(
      'Only those of this status; may be repeated. A status that does not exist finds nothing up to 2.37 and is a 400 from 2.38 on',
    ),
  },
  'changes-since': {
    given: one(dateTimeText),
    ...open('Only those that changed at or after this time, ISO 8601, deleted ones included'),
  },
  'changes-before': added(
    '2.66',
    one(dateTimeText),
    'Only those that changed at or before this time, ISO 8601, deleted ones included',
  ),
  ip: {
    given: pattern,
    pattern: 'ip',
    ...open('Only those with an IPv4 address that matches this regular expression'),
  },
  ip6: {
    given: pattern,
    pattern: 'ip6',
    ...opened('2.5', 'Only those with an IPv6 address that matches this regular expression'),
  },
  created_at: {
    given: pattern,
    pattern: 'created_at',
    sorts: 'created_at',
    ...opened('2.83', 'Only those created at this time'),
  },
  tags: { list: 'tags', ...added('2.26', pattern, 'Only those that have all of these tags, separated by commas') },
  'tags-any': {
    list: 'tagsAny',
    ...added('2.26', pattern, 'Only those that have one of these tags, separated by commas'),
  },
  'not-tags': {
    list: 'notTags',
    ...added('2.26', pattern, 'Only those that do not have all of these tags, separated by commas'),
  },
  'not-tags-any': {
    list: 'notTagsAny',
    ...added('2.26', pattern, 'Only those that have none of these tags, separated by commas'),
  },
  locked: {
    ...added('2.73', text, 'Only those that are locked, or are not'),
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
