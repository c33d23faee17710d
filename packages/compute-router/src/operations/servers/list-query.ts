import { compilePattern } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { many, one, type Query, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { dateTimeText } from '../../schemas/date-time.js';
import { refusedFrom275 } from '../../schemas/extra-parameters.js';
import { limitText } from '../../schemas/types.js';

const text = one(z.string());

/** A regular expression that is worth running: not empty, and one that takes linear time. */
const pattern = one(
  z
    .string()
    .min(1)
    .refine((given) => compilePattern(given) !== undefined, {
      message: 'The string is not a valid regular expression',
    }),
);

/** Keys that lists can be sorted by at every version. */
const sortKeys = [
  'access_ip_v4',
  'access_ip_v6',
  'auto_disk_config',
  'availability_zone',
  'config_drive',
  'created_at',
  'display_description',
  'display_name',
  'host',
  'hostname',
  'image_ref',
  'instance_type_id',
  'kernel_id',
  'key_name',
  'launch_index',
  'launched_at',
  'locked',
  'locked_by',
  'node',
  'power_state',
  'progress',
  'project_id',
  'ramdisk_id',
  'root_device_name',
  'task_state',
  'terminated_at',
  'updated_at',
  'user_id',
  'uuid',
  'vm_state',
] as const;

/** Keys that once could be given and never had a meaning. */
const idleSortKeys = [
  'architecture',
  'cell_name',
  'cleaned',
  'default_ephemeral_device',
  'default_swap_device',
  'deleted',
  'deleted_at',
  'disable_terminate',
  'ephemeral_gb',
  'ephemeral_key_uuid',
  'id',
  'key_data',
  'launched_on',
  'memory_mb',
  'os_type',
  'reservation_id',
  'root_gb',
  'shutdown_terminate',
  'user_data',
  'vcpus',
  'vm_mode',
] as const;

/** Filters that would reach into internal records, and are refused to whom filters are not dropped. */
export const joinFilters = [
  'block_device_mapping',
  'services',
  'metadata',
  'system_metadata',
  'info_cache',
  'security_groups',
  'pci_devices',
] as const;

/** Names with this form mean internal records too. */
export const INTERNAL = /^_/;

const tags = since('2.26', pattern);

/** Everything that may be asked of a list of servers. */
export const serverListQuery = query(
  {
    limit: one(limitText),
    marker: text,
    sort_key: [until('2.74', many(z.enum([...sortKeys, ...idleSortKeys]))), since('2.75', many(z.enum(sortKeys)))],
    sort_dir: many(z.string()),
    all_tenants: text,
    user_id: text,
    project_id: text,
    tenant_id: text,
    launch_index: text,
    image_ref: text,
    image: text,
    kernel_id: pattern,
    ramdisk_id: pattern,
    hostname: pattern,
    key_name: pattern,
    power_state: pattern,
    vm_state: text,
    task_state: text,
    host: text,
    node: pattern,
    flavor: pattern,
    reservation_id: pattern,
    launched_at: pattern,
    terminated_at: pattern,
    availability_zone: pattern,
    name: pattern,
    display_name: pattern,
    description: pattern,
    display_description: pattern,
    locked_by: pattern,
    uuid: text,
    root_device_name: pattern,
    config_drive: pattern,
    access_ip_v4: pattern,
    access_ip_v6: pattern,
    auto_disk_config: pattern,
    progress: pattern,
    soft_deleted: text,
    deleted: text,
    status: many(z.string()),
    'changes-since': one(dateTimeText),
    'changes-before': since('2.66', one(dateTimeText)),
    ip: pattern,
    ip6: pattern,
    created_at: pattern,
    tags,
    'tags-any': tags,
    'not-tags': tags,
    'not-tags-any': tags,
    locked: since('2.73', text),
    block_device_mapping: text,
    services: text,
    metadata: text,
    system_metadata: text,
    info_cache: text,
    security_groups: text,
    pci_devices: text,
  },
  { extra: refusedFrom275, patterns: [[INTERNAL, text]] },
);

/** The checked parameters of a list of servers. */
export type ServerListParameters = typeof serverListQuery extends Query<infer T> ? T : never;

/** Keys that a version accepts and passes over. `locked` had no meaning before servers could be sorted by it. */
export const idleKeys = [
  until('2.72', new Set<string>([...idleSortKeys, 'locked'])),
  since('2.73', new Set<string>(idleSortKeys)),
];
