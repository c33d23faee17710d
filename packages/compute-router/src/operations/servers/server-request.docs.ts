const hintsDocs = {
  group: 'Id of the server group to join; from 2.101 on a list of ids too',
  different_host: 'Ids of servers whose hosts to avoid',
  same_host: 'Ids of servers to share a host with',
  query: 'Condition on the host, in the notation of the JSON filter of the scheduler',
  target_cell: 'Cell to build in; without effect since cells of that kind are gone',
  different_cell: 'Cells not to build in; without effect since cells of that kind are gone',
  build_near_host_ip: 'Address of a host; only hosts in the same subnet are used',
  cidr: 'Size of the subnet for `build_near_host_ip`, such as `/24`',
};

/** The hints may stand under two keys. */
function hintsUnder(key: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(hintsDocs).map(([name, words]) => [`${key}.${name}`, words]));
}

const diskDocs = {
  virtual_name: 'Name for a disk that is neither volume nor image; of no effect today',
  volume_id: 'Id of a volume to attach, a UUID',
  snapshot_id: 'Id of a snapshot to make a volume of, a UUID',
  volume_size: 'Size of the disk in GiB, where it is made anew',
  device_name: 'Device in the guest, such as `/dev/vdb`; hypervisors may choose another',
  delete_on_termination: 'Whether the volume is deleted with the server; default false',
  no_device: 'Leaves out a disk that the image would bring',
  connection_info: 'Taken for the sake of old clients, and without effect',
};

const disks = Object.fromEntries(
  ['block_device_mapping', 'block_device_mapping_v2'].flatMap((key) =>
    Object.entries(diskDocs).map(([name, words]) => [`${key}.${name}`, words]),
  ),
);

/** What requests say of servers. */
export const serverRequestFields: Readonly<Record<string, string>> = {
  'body.server': 'The server to create, or what to change of one',
  'body.server.name': 'Name of the server; of several servers created at once each gets a number behind it',
  'body.server.imageRef': 'Id of the image to boot from, a UUID; empty to boot from a volume',
  'body.server.flavorRef': 'Id of the flavor',
  'body.server.adminPass': 'Password of the administrator in the guest; default: one is made up',
  'body.server.metadata': 'Texts by key to keep with the server; at most 255 characters each',
  'body.server.networks':
    'What to plug in: networks or ports. Required from 2.37 on, when `auto` and `none` came to say what leaving it out meant',
  'networks.uuid': 'Id of a network to make a port on, a UUID',
  'networks.port': 'Id of a port that there is already, a UUID',
  'networks.fixed_ip': 'Address that the port shall have',
  'networks.tag':
    'Label by which the guest recognises the interface in its metadata. From 2.32 to 2.36 and from 2.42 on',
  'body.server.accessIPv4': 'IPv4 address to tell for access',
  'body.server.accessIPv6': 'IPv6 address to tell for access',
  'body.server.availability_zone': 'Zone to build in; administrators may write `zone:host:node`',
  'body.server.block_device_mapping': 'Disks, in the first notation: volumes and snapshots only',
  'body.server.block_device_mapping_v2': 'Disks, each with where it comes from and where it goes',
  ...disks,
  'block_device_mapping_v2.source_type': 'What the disk is made of: `image`, `volume`, `snapshot` or `blank`',
  'block_device_mapping_v2.uuid': 'Id of that image, volume or snapshot, a UUID',
  'block_device_mapping_v2.image_id': 'Id of the image to make a volume of, a UUID',
  'block_device_mapping_v2.destination_type': 'Where the disk is: `volume` for a volume, `local` for the host',
  'block_device_mapping_v2.guest_format':
    'What a blank local disk is formatted with, such as `ext4`; `swap` makes it swap',
  'block_device_mapping_v2.device_type': '`disk`, `cdrom` and so on',
  'block_device_mapping_v2.disk_bus': 'Bus to attach it by, such as `virtio` or `scsi`',
  'block_device_mapping_v2.boot_index':
    'Order of booting: 0 for the root disk, negative or null for one not to boot from',
  'block_device_mapping_v2.tag':
    'Label by which the guest recognises the disk in its metadata. At 2.32 and from 2.42 on',
  'block_device_mapping_v2.volume_type':
    'Type of the volume to make. New in 2.67; before, the volume had to be made first',
  'body.server.config_drive': 'Whether metadata comes on a drive of its own, for guests without a network',
  'body.server.key_name': 'Name of a key pair of the caller, whose public key is put into the guest',
  'body.server.min_count': 'Servers to create at the least; with fewer possible none is. Default 1',
  'body.server.max_count': 'Servers to create at the most. Default: `min_count`',
  'body.server.return_reservation_id': 'Whether the answer is the id of the order, for several servers at once',
  'body.server.security_groups': 'Security groups for the ports made for it; default: `default`',
  'body.server.security_groups.name': 'Name or id of a security group',
  'body.server.user_data': 'Data for the guest, in Base64, at most 65,535 characters',
  'body.server.personality':
    'Files to write into the root disk. Gone in 2.57; user data and config drive do it without touching the disk',
  'personality.path': 'Path of the file in the guest',
  'personality.contents': 'Content of the file, in Base64',
  'os:scheduler_hints': 'Wishes on the choice of the host',
  ...hintsUnder('os:scheduler_hints'),
  'OS-SCH-HNT:scheduler_hints': 'The same as `os:scheduler_hints`, by its older key',
  ...hintsUnder('OS-SCH-HNT:scheduler_hints'),
  'body.server.description': 'Text for people, at most 255 characters, or null. New in 2.19',
  'body.server.tags':
    'Labels, at most 50 of at most 60 characters. New in 2.52; before, they could be set on existing servers only',
  'body.server.trusted_image_certificates':
    'Ids of certificates to check the signature of the image with, at most 50. New in 2.63',
  'body.server.host': 'Host to build on, checked by the scheduler; for administrators. New in 2.74',
  'body.server.hypervisor_hostname':
    'Hypervisor to build on, checked by the scheduler; for administrators. New in 2.74',
  'body.server.hostname':
    'Name that the guest shall call itself; from 2.94 on with a domain. New in 2.90; before, it was made of the name',
  'body.server.pinned_availability_zone':
    'Zone that the server shall be in and not leave; null to let it. New in 2.104',
  trigger_crash_dump: 'null',
  reboot: 'How to reboot',
  'reboot.type': '`SOFT` asks the guest to restart, `HARD` takes the power away',
  lock: 'null, or from 2.73 on an object with the reason',
  'lock.locked_reason': 'Why it is locked, for people. New in 2.73',
  'os-resetState': 'Which state to set',
  'os-resetState.state': '`active` or `error`',
  changePassword: 'The password to set',
  'changePassword.adminPass': 'New password of the administrator in the guest',
  rebuild: 'What the server is rebuilt from, and what else becomes different',
  'rebuild.imageRef': 'Id of the image to write over the root disk, a UUID',
  'rebuild.name': 'New name; default: the old one',
  'rebuild.adminPass': 'New password of the administrator; default: one is made up',
  'rebuild.metadata': 'New metadata in place of all the old; default: the old',
  'rebuild.preserve_ephemeral': 'Whether further local disks keep their content, where the driver can; default false',
  'rebuild.accessIPv4': 'New IPv4 address to tell for access',
  'rebuild.accessIPv6': 'New IPv6 address to tell for access',
  'rebuild.personality': 'Files to write into the root disk. Gone in 2.57',
  'rebuild.description': 'New text for people, or null. New in 2.19',
  'rebuild.key_name': 'Name of another key pair of the caller; null for none. New in 2.54',
  'rebuild.user_data': 'New data for the guest, in Base64; null for none. New in 2.57',
  'rebuild.trusted_image_certificates': 'Ids of certificates to check the image with; null for none. New in 2.63',
  'rebuild.hostname': 'Name that the guest shall call itself. New in 2.90',
  rescue: 'null, or an object that says how',
  'rescue.adminPass': 'Password of the administrator while rescued; default: one is made up',
  'rescue.rescue_image_ref': 'Id of the image to boot from; default: that of the server',
  'rescue.host': 'Host to boot it on, for administrators. New in 2.91',
  resize: 'The new size',
  'resize.flavorRef': 'Id of the new flavor, which must differ from the present one',
  migrate: 'null, or from 2.56 on an object with the host',
  'migrate.host': 'Host to move to, checked by the scheduler; default: its choice. New in 2.56',
  'os-migrateLive': 'Where and how to move',
  'os-migrateLive.host': 'Host to move to; null for the choice of the scheduler, and from 2.30 on checked by it',
  'os-migrateLive.block_migration': 'Whether local disks are copied. From 2.25 on `auto` finds it out',
  'os-migrateLive.disk_over_commit':
    'Whether the check for free disk counts what disks take and not what they may. Gone in 2.25',
  'os-migrateLive.force':
    'Whether the scheduler is not asked about the host. From 2.30 to 2.67, gone because it broke what placement knows',
  evacuate: 'Where and how to build it anew',
  'evacuate.host': 'Host to build on; default: the choice of the scheduler. From 2.29 on checked by it',
  'evacuate.adminPass': 'New password of the administrator; default: one is made up',
  'evacuate.onSharedStorage':
    'Whether its disks are on storage that hosts share. Gone in 2.14, since the host finds it out',
  'evacuate.force':
    'Whether the scheduler is not asked about the host. From 2.29 to 2.67, gone because it broke what placement knows',
  createImage: 'The image to make',
  'createImage.name': 'Name of the image',
  'createImage.metadata': 'Properties of the image',
  createBackup: 'The backup to make',
  'createBackup.name': 'Name of the image',
  'createBackup.backup_type': 'Kind of backup, such as `daily`; each kind is counted on its own',
  'createBackup.rotation': 'Backups of the kind to keep; 0 keeps none, not even the new one',
  'createBackup.metadata': 'Properties of the image',
  unshelve: 'null, or from 2.77 on an object that says where',
  'unshelve.availability_zone': 'Zone to bring it to; from 2.91 on null takes the pin to a zone away. New in 2.77',
  'unshelve.host': 'Host to bring it to; for administrators. New in 2.91',
  addSecurityGroup: 'The security group to join',
  'addSecurityGroup.name': 'Name or id of the security group',
  removeSecurityGroup: 'The security group to leave',
  'removeSecurityGroup.name': 'Name or id of the security group',
  'os-getVNCConsole': 'The console to open',
  'os-getVNCConsole.type': '`novnc` for a page, `xvpvnc` for a client',
  'os-getSPICEConsole': 'The console to open',
  'os-getSPICEConsole.type': '`spice-html5`',
  'os-getSerialConsole': 'The console to open',
  'os-getSerialConsole.type': '`serial`',
  'os-getConsoleOutput': 'How much to show',
  'os-getConsoleOutput.length': 'Lines to show, counted from the end; all without it, or with -1',
  addFixedIp: 'Where to add an address',
  'addFixedIp.networkId': 'Id of the network',
  removeFixedIp: 'The address to remove',
  'removeFixedIp.address': 'The address',
  addFloatingIp: 'The floating address to lead there',
  'addFloatingIp.address': 'The floating address',
  'addFloatingIp.fixed_address': 'Fixed address of the server that it leads to; default: the first one',
  removeFloatingIp: 'The floating address to lead away',
  'removeFloatingIp.address': 'The floating address',
};
