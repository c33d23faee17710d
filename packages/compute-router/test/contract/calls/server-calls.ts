import { from, nothing, type Prepare, withConnected, withServer } from './call.js';

/** Creates a server, performs the actions in `before` on it, and then calls the action. */
function act(
  action: string,
  before: readonly (string | readonly [string, unknown])[] = [],
  argument: unknown = null,
): Prepare {
  return async (cloud) => ({ params: { id: (await cloud.server(before)).id }, body: { [action]: argument } });
}

/** How each action is called, by its key. */
export const actions: Readonly<Record<string, Prepare>> = {
  confirmResize: act('confirmResize', [['resize', { flavorRef: '2' }]]),
  createImage: act('createImage', [], { name: 'image' }),
  'os-start': act('os-start', ['os-stop']),
  'os-stop': act('os-stop'),
  reboot: act('reboot', [], { type: 'SOFT' }),
  rebuild: async (cloud) => ({
    params: { id: (await cloud.connected()).id },
    body: { rebuild: { imageRef: cloud.ids.image } },
  }),
  resize: act('resize', [], { flavorRef: '2' }),
  revertResize: act('revertResize', [['resize', { flavorRef: '2' }]]),
  trigger_crash_dump: act('trigger_crash_dump'),
  injectNetworkInfo: act('injectNetworkInfo'),
  'os-resetState': act('os-resetState', [], { state: 'error' }),
  changePassword: act('changePassword', [], { adminPass: 'secret' }),
  'os-getConsoleOutput': act('os-getConsoleOutput', [], {}),
  createBackup: act('createBackup', [], { name: 'backup', backup_type: 'daily', rotation: 1 }),
  forceDelete: act('forceDelete'),
  restore: async (cloud) => {
    const { id } = await cloud.server();
    await cloud.made(cloud.as('2.1').delete(`/servers/${id}`));
    await cloud.api.idle();
    return { params: { id }, body: { restore: null } };
  },
  evacuate: async (cloud, version) => {
    const { id } = await cloud.server();
    const down = { host: await cloud.hostOf(id), binary: 'nova-compute', forced_down: true };
    await cloud.made(cloud.as('2.11').put('/os-services/force-down', down));
    return { params: { id }, body: { evacuate: from(version, 14) ? {} : { onSharedStorage: false } } };
  },
  addFloatingIp: async (cloud) => {
    const [{ id }, { address }] = [await cloud.connected(), await cloud.floatingIp()];
    return { params: { id }, body: { addFloatingIp: { address } } };
  },
  removeFloatingIp: async (cloud) => {
    const [{ id }, { address }] = [await cloud.connected(), await cloud.floatingIp()];
    await cloud.made(cloud.as('2.1').act(id, 'addFloatingIp', { address }));
    return { params: { id }, body: { removeFloatingIp: { address } } };
  },
  lock: act('lock'),
  unlock: act('unlock', ['lock']),
  migrate: act('migrate'),
  'os-migrateLive': async (cloud, version) => ({
    params: { id: (await cloud.server()).id },
    body: {
      'os-migrateLive': from(version, 25)
        ? { host: null, block_migration: 'auto' }
        : { host: null, block_migration: false, disk_over_commit: false },
    },
  }),
  addFixedIp: async (cloud) => ({
    params: { id: (await cloud.connected()).id },
    body: { addFixedIp: { networkId: cloud.ids.network } },
  }),
  removeFixedIp: async (cloud) => {
    const { id, addresses } = await cloud.connected();
    return { params: { id }, body: { removeFixedIp: { address: addresses.private[0].addr } } };
  },
  pause: act('pause'),
  unpause: act('unpause', ['pause']),
  'os-getRDPConsole': act('os-getRDPConsole', [], { type: 'rdp-html5' }),
  'os-getSPICEConsole': act('os-getSPICEConsole', [], { type: 'spice-html5' }),
  'os-getSerialConsole': act('os-getSerialConsole', [], { type: 'serial' }),
  'os-getVNCConsole': act('os-getVNCConsole', [], { type: 'novnc' }),
  rescue: act('rescue'),
  unrescue: act('unrescue', ['rescue']),
  addSecurityGroup: async (cloud) => ({
    params: { id: (await cloud.connected()).id },
    body: { addSecurityGroup: { name: await cloud.securityGroup() } },
  }),
  removeSecurityGroup: async (cloud) => ({
    params: { id: (await cloud.connected()).id },
    body: { removeSecurityGroup: { name: 'default' } },
  }),
  shelve: act('shelve'),
  shelveOffload: act('shelveOffload', ['shelve']),
  unshelve: act('unshelve', ['shelve']),
  resume: act('resume', ['suspend']),
  suspend: act('suspend'),
};

export const serverCalls: Readonly<Record<string, Prepare>> = {
  'GET /servers': nothing,
  'GET /servers/detail': nothing,
  'POST /servers': (cloud, version) => ({
    body: {
      server: {
        name: 'web',
        flavorRef: cloud.ids.tiny,
        imageRef: cloud.ids.image,
        ...(from(version, 37) && { networks: 'none' }),
      },
    },
  }),
  'GET /servers/{id}': withConnected,
  'PUT /servers/{id}': async (cloud) => ({
    ...(await withConnected(cloud, '')),
    body: { server: { name: 'renamed' } },
  }),
  'DELETE /servers/{id}': withServer,
  ...Object.fromEntries(Object.entries(actions).map(([key, prepare]) => [`POST /servers/{id}/action ${key}`, prepare])),
};

/** The same calls with the other path of the server collection. */
export const aliasedCalls = Object.fromEntries(
  Object.entries(serverCalls).map(([key, prepare]) => [key.replace('/servers', '/os-volumes_boot'), prepare]),
);
