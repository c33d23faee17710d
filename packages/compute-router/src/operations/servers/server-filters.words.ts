const FOR_ADMINISTRATORS = 'others may give it, and it is left out of account';

/** By what lists of servers can be filtered. */
export const serverFilters: Readonly<Record<string, string>> = {
  'query.sort_key': 'Field to sort by; repeat it to sort by several. Default: when they were created',
  'query.sort_dir': '`asc` or `desc`, for the sort key at the same place. Default: `desc`',
  'query.marker': 'Id of the last server of the page before',
  'query.all_tenants': `Whether servers of all projects are meant; for administrators, for others refused`,
  'query.project_id': 'Only those of this project; needs `all_tenants`',
  'query.tenant_id': 'The same as `project_id`, by its older name',
  'query.user_id': `Only those that this user created. For administrators up to 2.82, for everybody from 2.83 on`,
  'query.name': 'Only those whose name matches this regular expression',
  'query.display_name': 'The same as `name`, by the name of the column',
  'query.description': `Only those whose description matches this regular expression; for administrators, ${FOR_ADMINISTRATORS}`,
  'query.display_description': 'The same as `description`, by the name of the column',
  'query.status':
    'Only those of this status; may be repeated. A status that does not exist finds nothing up to 2.37 and is a 400 from 2.38 on',
  'query.reservation_id': 'Only those created by this order',
  'query.hostname':
    'Only those whose guest calls itself this. For administrators up to 2.89, for everybody from 2.90 on',
  'query.image': 'Only those created from this image, by id',
  'query.image_ref': 'The same as `image`, by the name of the column',
  'query.flavor': 'Only those of this flavor, by id',
  'query.ip': 'Only those with an IPv4 address that matches this regular expression',
  'query.ip6':
    'Only those with an IPv6 address that matches this regular expression. For administrators up to 2.4, for everybody from 2.5 on',
  'query.changes-since': 'Only those that changed at or after this time, ISO 8601, deleted ones included',
  'query.changes-before':
    'Only those that changed at or before this time, ISO 8601, deleted ones included. New in 2.66',
  'query.tags': 'Only those that have all of these tags, separated by commas. New in 2.26',
  'query.tags-any': 'Only those that have one of these tags, separated by commas. New in 2.26',
  'query.not-tags': 'Only those that do not have all of these tags, separated by commas. New in 2.26',
  'query.not-tags-any': 'Only those that have none of these tags, separated by commas. New in 2.26',
  'query.locked': 'Only those that are locked, or are not. New in 2.73',
  'query.deleted': 'Whether deleted servers are meant; for administrators',
  'query.soft_deleted': 'Whether servers that are kept for a while after their deletion are meant; for administrators',
  ...Object.fromEntries(
    Object.entries({
      availability_zone: 'in this zone',
      config_drive: 'with or without a drive for metadata',
      key_name: 'with this key pair',
      created_at: 'created at this time',
      launched_at: 'first run at this time',
      terminated_at: 'deleted at this time',
      power_state: 'in this power state, a number',
      task_state: 'in this task state',
      vm_state: 'in this state apart from the task',
      progress: 'at this percentage',
    }).map(([name, words]) => [
      `query.${name}`,
      `Only those ${words}. For administrators up to 2.82, for everybody from 2.83 on`,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      launch_index: 'at this place among those created together, from 0',
      kernel_id: 'with this image of a kernel',
      ramdisk_id: 'with this image of an initial disk in memory',
      host: 'on this host',
      node: 'on this hypervisor',
      locked_by: 'locked by `owner` or `admin`',
      uuid: 'with this id',
      root_device_name: 'with this device as root disk',
      access_ip_v4: 'with this IPv4 address for access',
      access_ip_v6: 'with this IPv6 address for access',
      auto_disk_config: 'whose file system grows with the disk, or does not',
    }).map(([name, words]) => [`query.${name}`, `Only those ${words}; for administrators, ${FOR_ADMINISTRATORS}`]),
  ),
  ...Object.fromEntries(
    [
      'block_device_mapping',
      'services',
      'metadata',
      'system_metadata',
      'info_cache',
      'security_groups',
      'pci_devices',
    ].map((name) => [
      `query.${name}`,
      'Would reach into internal records: left out of account, and refused to administrators',
    ]),
  ),
};
