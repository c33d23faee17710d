import type { Resource } from '../../reference/resource.js';

const POLL = 'Asynchronous: poll the server until';

/** Documentation of the actions on a server, by the only key of the request body. */
export const serverActionDocs: Resource['operations'] = {
  'POST /servers/{id}/action os-start': [
    'startServer',
    `Starts a stopped server. The server must be \`SHUTOFF\`. ${POLL} its status is \`ACTIVE\`.`,
  ],
  'POST /servers/{id}/action os-stop': [
    'stopServer',
    `Stops a server: shuts down the guest, and powers it off after a timeout. The server keeps its host and its disks. It must be \`ACTIVE\` or \`ERROR\`. ${POLL} its status is \`SHUTOFF\`.`,
  ],
  'POST /servers/{id}/action pause': [
    'pauseServer',
    `Pauses a server. Its state stays in the memory of the host. The server must be \`ACTIVE\`. ${POLL} its status is \`PAUSED\`.`,
  ],
  'POST /servers/{id}/action unpause': [
    'unpauseServer',
    `Unpauses a server. The server must be \`PAUSED\`. ${POLL} its status is \`ACTIVE\`.`,
  ],
  'POST /servers/{id}/action suspend': [
    'suspendServer',
    `Suspends a server: writes its memory and state to disk and powers it off. The server must be \`ACTIVE\`. ${POLL} its status is \`SUSPENDED\`.`,
  ],
  'POST /servers/{id}/action resume': [
    'resumeServer',
    `Resumes a server from disk. The server must be \`SUSPENDED\`. ${POLL} its status is \`ACTIVE\`.`,
  ],
  'POST /servers/{id}/action reboot': [
    'rebootServer',
    `Reboots a server. \`SOFT\` restarts the guest operating system and requires the status \`ACTIVE\`. \`HARD\` power-cycles the server, also in the statuses \`SHUTOFF\`, \`PAUSED\`, \`SUSPENDED\` and \`ERROR\`. ${POLL} its status is \`ACTIVE\`.`,
  ],
  'POST /servers/{id}/action lock': [
    'lockServer',
    'Locks a server. While it is locked, only administrators can change it. Synchronous; allowed in any status.',
  ],
  'POST /servers/{id}/action unlock': [
    'unlockServer',
    'Unlocks a server. A lock set by an administrator can be removed only by administrators. Synchronous; allowed in any status.',
  ],
  'POST /servers/{id}/action os-resetState': [
    'resetServerState',
    'Sets the state of a server in the database without checking the instance. Use it to repair a server with a wrong state. Synchronous; allowed in any status.',
  ],
  'POST /servers/{id}/action injectNetworkInfo': [
    'injectServerNetworkInfo',
    'Injects the network configuration into the guest, if the driver supports it.',
  ],
  'POST /servers/{id}/action trigger_crash_dump': [
    'triggerServerCrashDump',
    'Sends a non-maskable interrupt to the guest, which writes a crash dump if it is configured to do so. The server must be `ACTIVE`, `PAUSED`, `RESCUE`, `VERIFY_RESIZE` or `ERROR`.',
  ],
  'POST /servers/{id}/action changePassword': [
    'changeServerPassword',
    'Changes the administrative password of a server. The server must be `ACTIVE` and its guest must run an agent.',
    { 409: 'The server is not active, or its guest does not support setting a password.' },
  ],
  'POST /servers/{id}/action restore': [
    'restoreServer',
    `Restores a soft-deleted server. The server must be \`SOFT_DELETED\`. ${POLL} its status is \`ACTIVE\`.`,
    { 403: 'The policy does not allow it, or a quota is exceeded.' },
  ],
  'POST /servers/{id}/action forceDelete': [
    'forceDeleteServer',
    `Deletes a server without soft delete, in any status. ${POLL} the response is 404.`,
  ],
  'POST /servers/{id}/action rebuild': [
    'rebuildServer',
    `Rebuilds a server: replaces the content of its root disk with an image. ID, IP addresses and volumes are kept. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`; since 2.93, its root disk can be a volume. ${POLL} its status is \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`.`,
    {
      403: 'The policy does not allow it, or a quota is exceeded.',
      409: 'The status, the lock or the root volume of the server does not allow it.',
    },
  ],
  'POST /servers/{id}/action rescue': [
    'rescueServer',
    `Boots a server from a rescue image, with its own root disk attached as an additional disk. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`; since 2.87, its root disk can be a volume. ${POLL} its status is \`RESCUE\`.`,
  ],
  'POST /servers/{id}/action unrescue': [
    'unrescueServer',
    `Boots a rescued server from its own root disk. The server must be \`RESCUE\`. ${POLL} its status is \`ACTIVE\`.`,
  ],
  'POST /servers/{id}/action resize': [
    'resizeServer',
    `Resizes a server to another flavor, usually on another host. The server must be \`ACTIVE\` or \`SHUTOFF\`. ${POLL} its status is \`VERIFY_RESIZE\`; then confirm or revert the resize.`,
    { 403: 'The policy does not allow it, or a quota is exceeded.' },
  ],
  'POST /servers/{id}/action confirmResize': [
    'confirmServerResize',
    `Confirms a resize or a cold migration and deletes the instance on the source host. The server must be \`VERIFY_RESIZE\`. ${POLL} its status is \`ACTIVE\` or \`SHUTOFF\`.`,
  ],
  'POST /servers/{id}/action revertResize': [
    'revertServerResize',
    `Reverts a resize or a cold migration: the server returns to its source host and flavor. The server must be \`VERIFY_RESIZE\`. ${POLL} its status is \`ACTIVE\` or \`SHUTOFF\`.`,
  ],
  'POST /servers/{id}/action migrate': [
    'migrateServer',
    `Migrates a server to another host (cold migration); the instance is stopped in the meantime. The server must be \`ACTIVE\` or \`SHUTOFF\`. ${POLL} its status is \`VERIFY_RESIZE\`; then confirm or revert the migration.`,
  ],
  'POST /servers/{id}/action os-migrateLive': [
    'liveMigrateServer',
    `Live-migrates a running server to another host. The server must be \`ACTIVE\` or \`PAUSED\`. ${POLL} it has left the status \`MIGRATING\`. Since 2.34, hosts are checked after the response; failures are reported in the migration and in the actions of the server.`,
  ],
  'POST /servers/{id}/action evacuate': [
    'evacuateServer',
    `Rebuilds a server of a failed host on another host. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`, and its host must be down. ${POLL} its status is \`ACTIVE\` or \`SHUTOFF\`. Since 2.95, the server is stopped afterwards.`,
    {
      400: 'The request body is malformed, the destination is the current host, or the host of the server is up.',
    },
  ],
  'POST /servers/{id}/action createImage': [
    'createServerImage',
    'Creates an image of the root disk, or for a root volume, snapshots of all volumes and an image that refers to them. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`. Asynchronous: poll the image. Until 2.44, its URL is in the `Location` header; since 2.45, its ID is in the response body.',
    { 403: 'The policy does not allow it, or a quota is exceeded.' },
  ],
  'POST /servers/{id}/action createBackup': [
    'createServerBackup',
    'Creates an image of a server and deletes its oldest backups of the same type until `rotation` backups are left. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`. Asynchronous: poll the image. Until 2.44, its URL is in the `Location` header; since 2.45, its ID is in the response body.',
    { 403: 'The policy does not allow it, or a quota is exceeded.' },
  ],
  'POST /servers/{id}/action shelve': [
    'shelveServer',
    `Shelves a server: stops it and stores it as an image. After a configured period it is removed from its host and releases its resources. The server must be \`ACTIVE\`, \`PAUSED\`, \`SUSPENDED\` or \`SHUTOFF\`. ${POLL} its status is \`SHELVED\` or \`SHELVED_OFFLOADED\`.`,
  ],
  'POST /servers/{id}/action shelveOffload': [
    'shelveOffloadServer',
    `Removes a shelved server from its host and releases its resources. The server must be \`SHELVED\`. ${POLL} its status is \`SHELVED_OFFLOADED\`.`,
  ],
  'POST /servers/{id}/action unshelve': [
    'unshelveServer',
    `Restores a shelved server. The server must be \`SHELVED\` or \`SHELVED_OFFLOADED\`. ${POLL} its status is \`ACTIVE\`.`,
    {
      409: 'The status or the lock of the server does not allow it. Since 2.91: or the host is not in the availability zone.',
    },
  ],
  'POST /servers/{id}/action addSecurityGroup': [
    'addServerSecurityGroup',
    'Adds a security group to all ports of a server.',
  ],
  'POST /servers/{id}/action removeSecurityGroup': [
    'removeServerSecurityGroup',
    'Removes a security group from all ports of a server.',
  ],
  'POST /servers/{id}/action os-getVNCConsole': [
    'getServerVncConsole',
    'Creates a VNC console and returns its URL. Replaced by remote consoles with the protocol `vnc`.',
  ],
  'POST /servers/{id}/action os-getSPICEConsole': [
    'getServerSpiceConsole',
    'Creates a SPICE console and returns its URL. Replaced by remote consoles with the protocol `spice`.',
  ],
  'POST /servers/{id}/action os-getSerialConsole': [
    'getServerSerialConsole',
    'Creates a serial console and returns its URL. Replaced by remote consoles with the protocol `serial`.',
  ],
  'POST /servers/{id}/action os-getRDPConsole': [
    'getServerRdpConsole',
    'Always rejected: RDP consoles were removed with the driver that provided them.',
  ],
  'POST /servers/{id}/action os-getConsoleOutput': [
    'showServerConsoleOutput',
    'Shows the last lines of the console output of a server.',
    { 409: 'The server has no host yet.' },
  ],
  'POST /servers/{id}/action addFixedIp': [
    'addServerFixedIp',
    'Adds a fixed IP address on a network to a server. Replaced by ports.',
  ],
  'POST /servers/{id}/action removeFixedIp': [
    'removeServerFixedIp',
    'Removes a fixed IP address from a server. Replaced by ports.',
  ],
  'POST /servers/{id}/action addFloatingIp': [
    'addServerFloatingIp',
    'Associates a floating IP address with a server. Replaced by the networking service.',
  ],
  'POST /servers/{id}/action removeFloatingIp': [
    'removeServerFloatingIp',
    'Disassociates a floating IP address from a server. Replaced by the networking service.',
    { 409: 'The address is not associated with this server.' },
  ],
};
