import type { Resource } from '../../description/resource.js';

/** What can be done to a server, by the key of the body. */
export const serverActionDocs: Resource['operations'] = {
  'POST /servers/{id}/action os-start': ['startServer', 'Powers a stopped server on.'],
  'POST /servers/{id}/action os-stop': [
    'stopServer',
    'Asks the guest to shut down, and powers it off when it does not in time. The server keeps its host and its disks.',
  ],
  'POST /servers/{id}/action pause': [
    'pauseServer',
    'Halts the processors and keeps everything in the memory of the host.',
  ],
  'POST /servers/{id}/action unpause': ['unpauseServer', 'Lets a paused server go on where it was.'],
  'POST /servers/{id}/action suspend': ['suspendServer', 'Writes memory and state to disk and powers the server off.'],
  'POST /servers/{id}/action resume': ['resumeServer', 'Brings a suspended server back as it was.'],
  'POST /servers/{id}/action reboot': [
    'rebootServer',
    'Restarts a server: `SOFT` asks the guest, `HARD` takes the power away and works in more states.',
  ],
  'POST /servers/{id}/action lock': [
    'lockServer',
    'Keeps everybody but administrators from acting on the server. From 2.73 on a reason can be given, so that others know why.',
  ],
  'POST /servers/{id}/action unlock': [
    'unlockServer',
    'Allows actions again. Who was locked out by an administrator cannot undo it.',
  ],
  'POST /servers/{id}/action os-resetState': [
    'resetServerState',
    'Sets what the database says of the state, without a look at the machine: for servers that got stuck.',
  ],
  'POST /servers/{id}/action injectNetworkInfo': [
    'injectServerNetworkInfo',
    'Has the host write the network settings into the guest, where its driver can.',
  ],
  'POST /servers/{id}/action trigger_crash_dump': [
    'triggerServerCrashDump',
    'Sends the guest an interrupt on which it writes a crash dump, if it is set up so: to find out why it hangs.',
  ],
  'POST /servers/{id}/action changePassword': [
    'changeServerPassword',
    'Sets the password of the administrator inside a running guest that has an agent.',
    { 409: 'The server is not running, or its guest cannot take a password' },
  ],
  'POST /servers/{id}/action restore': [
    'restoreServer',
    'Brings a deleted server back, as long as the cloud keeps it.',
    { 403: 'The policy does not allow it, or a quota is used up' },
  ],
  'POST /servers/{id}/action forceDelete': [
    'forceDeleteServer',
    'Deletes a server at once, where the cloud would keep it for a while.',
  ],
  'POST /servers/{id}/action rebuild': [
    'rebuildServer',
    'Writes an image over the root disk; id, addresses and volumes stay. From 2.93 on this works for a root disk in a volume too. More can be replaced with it: description (2.19), key (2.54), user data (2.57), certificates (2.63), host name (2.90).',
    {
      403: 'The policy does not allow it, or a quota is used up',
      409: 'The state of the server, a lock, or its volume does not allow it',
    },
  ],
  'POST /servers/{id}/action rescue': [
    'rescueServer',
    'Boots the server from another image, with its own disk beside it, so that this one can be repaired. From 2.87 on a server whose root disk is a volume too.',
  ],
  'POST /servers/{id}/action unrescue': ['unrescueServer', 'Boots a rescued server from its own disk again.'],
  'POST /servers/{id}/action resize': [
    'resizeServer',
    'Gives a server another flavor, usually on another host. It then waits in `VERIFY_RESIZE` until the resize is confirmed or reverted.',
    { 403: 'The policy does not allow it, or a quota is used up' },
  ],
  'POST /servers/{id}/action confirmResize': [
    'confirmServerResize',
    'Accepts a resize or a cold migration; what is left on the old host is deleted.',
  ],
  'POST /servers/{id}/action revertResize': [
    'revertServerResize',
    'Takes a resize or a cold migration back; the server returns to its old host and flavor.',
  ],
  'POST /servers/{id}/action migrate': [
    'migrateServer',
    'Moves a server to another host while it is off; to be confirmed like a resize. From 2.56 on the host can be named.',
  ],
  'POST /servers/{id}/action os-migrateLive': [
    'liveMigrateServer',
    'Moves a running server to another host. From 2.25 on the API finds out itself whether disks must be copied; from 2.34 on hosts are checked after the answer, so a refusal shows in the migration; a move can be forced from 2.30 to 2.67 only.',
  ],
  'POST /servers/{id}/action evacuate': [
    'evacuateServer',
    'Builds a server anew on another host after its own went down. From 2.14 on whether disks are shared is found out; a host can be forced from 2.29 to 2.67 only; from 2.95 on the server stays stopped until it is started.',
    { 400: 'The body is malformed, the host that is named is the present one, or the host of the server is still up' },
  ],
  'POST /servers/{id}/action createImage': [
    'createServerImage',
    'Makes an image of the root disk, or snapshots of volumes with an image that points at them. Up to 2.44 the `Location` header tells where it is; from 2.45 on the body has its id.',
    { 403: 'The policy does not allow it, or a quota is used up' },
  ],
  'POST /servers/{id}/action createBackup': [
    'createServerBackup',
    'Makes an image and deletes the oldest backups of the same kind, so that no more than a number of them stay. From 2.45 on the body has the id of the image, not a header.',
    { 403: 'The policy does not allow it, or a quota is used up' },
  ],
  'POST /servers/{id}/action shelve': [
    'shelveServer',
    'Stops a server and keeps it as an image, so that it can leave its host after a while and take nothing there.',
  ],
  'POST /servers/{id}/action shelveOffload': ['shelveOffloadServer', 'Takes a shelved server from its host at once.'],
  'POST /servers/{id}/action unshelve': [
    'unshelveServer',
    'Brings a shelved server back. From 2.77 on into a zone that is named; from 2.91 on onto a host, or out of a zone that it was pinned to.',
    {
      409: 'The state of the server or a lock does not allow it, or from 2.91 on the zone and the host do not go together',
    },
  ],
  'POST /servers/{id}/action addSecurityGroup': [
    'addServerSecurityGroup',
    'Puts all ports of the server into a security group.',
  ],
  'POST /servers/{id}/action removeSecurityGroup': [
    'removeServerSecurityGroup',
    'Takes all ports of the server out of a security group.',
  ],
  'POST /servers/{id}/action os-getVNCConsole': [
    'getServerVncConsole',
    'Opens a VNC console and tells its address. From 2.6 on a remote console of protocol `vnc` does it.',
  ],
  'POST /servers/{id}/action os-getSPICEConsole': [
    'getServerSpiceConsole',
    'Opens a SPICE console and tells its address. From 2.6 on a remote console of protocol `spice` does it.',
  ],
  'POST /servers/{id}/action os-getSerialConsole': [
    'getServerSerialConsole',
    'Opens a serial console and tells its address. From 2.6 on a remote console of protocol `serial` does it.',
  ],
  'POST /servers/{id}/action os-getRDPConsole': [
    'getServerRdpConsole',
    'Opened an RDP console; the driver that had them is gone, and so are they.',
  ],
  'POST /servers/{id}/action os-getConsoleOutput': [
    'showServerConsoleOutput',
    'The last lines that the guest has printed on its console.',
    { 409: 'The server is not on a host yet' },
  ],
  'POST /servers/{id}/action addFixedIp': [
    'addServerFixedIp',
    'Gives a server one more address on a network. Gone in 2.44; interfaces and ports do it.',
  ],
  'POST /servers/{id}/action removeFixedIp': [
    'removeServerFixedIp',
    'Takes an address from a server. Gone in 2.44; interfaces and ports do it.',
  ],
  'POST /servers/{id}/action addFloatingIp': [
    'addServerFloatingIp',
    'Leads a floating address to a server. Gone in 2.44; the networking service does it.',
  ],
  'POST /servers/{id}/action removeFloatingIp': [
    'removeServerFloatingIp',
    'Leads a floating address away from a server. Gone in 2.44; the networking service does it.',
    { 409: 'The address is not that of this server' },
  ],
};
