/** The filters of lists that callers may use, as `/resource_filters` shows them. Administrators may use others too. */
export const RESOURCE_FILTERS: Readonly<Record<string, readonly string[]>> = {
  volume: [
    'name',
    'status',
    'metadata',
    'bootable',
    'migration_status',
    'availability_zone',
    'group_id',
    'size',
    'created_at',
    'updated_at',
    'consumes_quota',
  ],
  backup: ['name', 'status', 'volume_id'],
  snapshot: ['name', 'status', 'volume_id', 'metadata', 'availability_zone', 'consumes_quota'],
  group: ['name'],
  group_snapshot: ['name', 'status', 'group_id'],
  attachment: ['volume_id', 'status', 'instance_id', 'attach_status'],
  message: ['resource_uuid', 'resource_type', 'event_id', 'request_id', 'message_level'],
  pool: ['name', 'volume_type'],
  volume_type: ['is_public', 'extra_specs'],
};
