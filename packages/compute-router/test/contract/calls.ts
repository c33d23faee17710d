import { randomUUID } from 'node:crypto';
import { type Cloud, PUBLIC_KEY } from './cloud.js';

/** How to call an operation so that it succeeds. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** What has to be done once the call has been made. */
  readonly after?: () => Promise<void>;
}

type Prepare = (cloud: Cloud, version: string) => Promise<Call> | Call;

const from = (version: string, first: number) => Number(version.split('.')[1]) >= first;

const nothing: Prepare = () => ({});
const withServer: Prepare = async (cloud) => ({ params: { id: (await cloud.server()).id } });
const withParent: Prepare = async (cloud) => ({ params: { server_id: (await cloud.server()).id } });

/** An action on a server that has gone through others before. */
function act(
  action: string,
  before: readonly (string | readonly [string, unknown])[] = [],
  argument: unknown = null,
): Prepare {
  return async (cloud) => ({ params: { id: (await cloud.server(before)).id }, body: { [action]: argument } });
}

const actions: Readonly<Record<string, Prepare>> = {
  confirmResize: act('confirmResize', [['resize', { flavorRef: '2' }]]),
  createImage: act('createImage', [], { name: 'image' }),
  'os-start': act('os-start', ['os-stop']),
  'os-stop': act('os-stop'),
  reboot: act('reboot', [], { type: 'SOFT' }),
  rebuild: async (cloud) => ({
    params: { id: (await cloud.server()).id },
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

const serverCalls: Readonly<Record<string, Prepare>> = {
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
  'GET /servers/{id}': withServer,
  'PUT /servers/{id}': async (cloud) => ({ ...(await withServer(cloud, '')), body: { server: { name: 'renamed' } } }),
  'DELETE /servers/{id}': withServer,
  ...Object.fromEntries(Object.entries(actions).map(([key, prepare]) => [`POST /servers/{id}/action ${key}`, prepare])),
};

const withAttachment: Prepare = async (cloud) => ({ params: await cloud.attached() });

const withInterface: Prepare = async (cloud) => {
  const { id: server_id } = await cloud.connected();
  const { interfaceAttachments } = await cloud.made(cloud.as('2.1').get(`/servers/${server_id}/os-interface`));
  return { params: { server_id, id: interfaceAttachments[0].port_id } };
};

const withMetadata: Prepare = async (cloud) => ({
  params: { server_id: (await cloud.server([], { metadata: { colour: 'blue' } })).id, id: 'colour' },
});

const withTags: Prepare = async (cloud) => {
  const { id: server_id } = await cloud.server();
  await cloud.made(cloud.as('2.26').put(`/servers/${server_id}/tags`, { tags: ['red'] }));
  return { params: { server_id, id: 'red' } };
};

const withMigration: Prepare = async (cloud) => {
  const { server_id, id, release } = await cloud.moving();
  return { params: { server_id, id }, after: release };
};

const subResourceCalls: Readonly<Record<string, Prepare>> = {
  'GET /servers/{server_id}/diagnostics': withParent,
  'GET /servers/{server_id}/ips': withParent,
  'GET /servers/{server_id}/ips/{id}': async (cloud) => ({
    params: { server_id: (await cloud.connected()).id, id: 'private' },
  }),
  'GET /servers/{server_id}/metadata': withParent,
  'POST /servers/{server_id}/metadata': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { metadata: { a: 'b' } },
  }),
  'PUT /servers/{server_id}/metadata': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { metadata: { a: 'b' } },
  }),
  'GET /servers/{server_id}/metadata/{id}': withMetadata,
  'PUT /servers/{server_id}/metadata/{id}': async (cloud) => ({
    ...(await withMetadata(cloud, '')),
    body: { meta: { colour: 'red' } },
  }),
  'DELETE /servers/{server_id}/metadata/{id}': withMetadata,
  'GET /servers/{server_id}/migrations': withParent,
  'GET /servers/{server_id}/migrations/{id}': withMigration,
  'DELETE /servers/{server_id}/migrations/{id}': withMigration,
  'POST /servers/{server_id}/migrations/{id}/action force_complete': async (cloud) => ({
    ...(await withMigration(cloud, '')),
    body: { force_complete: null },
  }),
  'GET /servers/{server_id}/os-instance-actions': withParent,
  'GET /servers/{server_id}/os-instance-actions/{id}': async (cloud) => {
    const { id: server_id } = await cloud.server();
    const path = `/servers/${server_id}/os-instance-actions`;
    const { instanceActions } = await cloud.made(cloud.as('2.1').get(path));
    return { params: { server_id, id: instanceActions[0].request_id } };
  },
  'GET /servers/{server_id}/os-interface': withParent,
  'POST /servers/{server_id}/os-interface': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { interfaceAttachment: { net_id: cloud.ids.network } },
  }),
  'GET /servers/{server_id}/os-interface/{id}': withInterface,
  'DELETE /servers/{server_id}/os-interface/{id}': withInterface,
  'GET /servers/{server_id}/os-virtual-interfaces': withParent,
  'GET /servers/{server_id}/os-server-password': withParent,
  'DELETE /servers/{server_id}/os-server-password': withParent,
  'GET /servers/{server_id}/os-volume_attachments': withParent,
  'POST /servers/{server_id}/os-volume_attachments': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { volumeAttachment: { volumeId: await cloud.volume() } },
  }),
  'GET /servers/{server_id}/os-volume_attachments/{id}': withAttachment,
  'PUT /servers/{server_id}/os-volume_attachments/{id}': async (cloud) => {
    const params = await cloud.attached();
    return { params, body: { volumeAttachment: { volumeId: await cloud.beginVolumeMigration(params.id) } } };
  },
  'DELETE /servers/{server_id}/os-volume_attachments/{id}': withAttachment,
  'POST /servers/{server_id}/remote-consoles': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { remote_console: { protocol: 'vnc', type: 'novnc' } },
  }),
  'GET /servers/{server_id}/os-security-groups': async (cloud) => ({
    params: { server_id: (await cloud.connected()).id },
  }),
  'GET /servers/{server_id}/shares': async (cloud) => ({ params: await cloud.shared() }),
  'POST /servers/{server_id}/shares': async (cloud) => ({
    params: { server_id: (await cloud.server(['os-stop'])).id },
    body: { share: { share_id: await cloud.share() } },
  }),
  'GET /servers/{server_id}/shares/{id}': async (cloud) => ({ params: await cloud.shared() }),
  'DELETE /servers/{server_id}/shares/{id}': async (cloud) => ({ params: await cloud.shared() }),
  'GET /servers/{server_id}/tags': withTags,
  'PUT /servers/{server_id}/tags': async (cloud) => ({ ...(await withTags(cloud, '')), body: { tags: ['blue'] } }),
  'DELETE /servers/{server_id}/tags': withTags,
  'GET /servers/{server_id}/tags/{id}': withTags,
  'PUT /servers/{server_id}/tags/{id}': withTags,
  'DELETE /servers/{server_id}/tags/{id}': withTags,
  'GET /servers/{server_id}/topology': withParent,
};

const id = (make: (cloud: Cloud, version: string) => Promise<string>): Prepare => {
  return async (cloud, version) => ({ params: { id: await make(cloud, version) } });
};

const withBody = (prepare: Prepare, body: unknown): Prepare => {
  return async (cloud, version) => ({ ...(await prepare(cloud, version)), body });
};

const named =
  (value: string): Prepare =>
  () => ({ params: { id: value } });

const flavorCalls: Readonly<Record<string, Prepare>> = {
  'GET /flavors': nothing,
  'GET /flavors/detail': nothing,
  'POST /flavors': (cloud) => ({ body: { flavor: { name: cloud.name('flavor'), ram: 64, vcpus: 1, disk: 0 } } }),
  'GET /flavors/{id}': named('1'),
  'PUT /flavors/{id}': withBody(
    id((cloud) => cloud.flavor()),
    { flavor: { description: 'small' } },
  ),
  'DELETE /flavors/{id}': id((cloud) => cloud.flavor()),
  'POST /flavors/{id}/action addTenantAccess': withBody(
    id((cloud) => cloud.flavor({ 'os-flavor-access:is_public': false })),
    { addTenantAccess: { tenant: 'p7' } },
  ),
  'POST /flavors/{id}/action removeTenantAccess': async (cloud) => {
    const flavor = await cloud.flavor({ 'os-flavor-access:is_public': false });
    const path = `/flavors/${flavor}/action`;
    await cloud.made(cloud.as('2.1').post(path, { addTenantAccess: { tenant: 'p7' } }));
    return { params: { id: flavor }, body: { removeTenantAccess: { tenant: 'p7' } } };
  },
  'GET /flavors/{flavor_id}/os-extra_specs': async (cloud) => ({ params: { flavor_id: await cloud.flavor() } }),
  'POST /flavors/{flavor_id}/os-extra_specs': async (cloud) => ({
    params: { flavor_id: await cloud.flavor() },
    body: { extra_specs: { size: 'small' } },
  }),
  'GET /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
  }),
  'PUT /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
    body: { colour: 'red' },
  }),
  'DELETE /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
  }),
  'GET /flavors/{flavor_id}/os-flavor-access': async (cloud) => ({
    params: { flavor_id: await cloud.flavor({ 'os-flavor-access:is_public': false }) },
  }),
};

const withImageItem: Prepare = async (cloud) => ({ params: { image_id: await cloud.image(), id: 'colour' } });
const withGroup = id((cloud) => cloud.securityGroup());
const groupBody = { security_group: { name: 'renamed', description: '' } };

const proxyCalls: Readonly<Record<string, Prepare>> = {
  'GET /images': nothing,
  'GET /images/detail': nothing,
  'GET /images/{id}': id((cloud) => cloud.image()),
  'DELETE /images/{id}': id((cloud) => cloud.image()),
  'GET /images/{image_id}/metadata': withImageItem,
  'POST /images/{image_id}/metadata': withBody(withImageItem, { metadata: { a: 'b' } }),
  'PUT /images/{image_id}/metadata': withBody(withImageItem, { metadata: { a: 'b' } }),
  'GET /images/{image_id}/metadata/{id}': withImageItem,
  'PUT /images/{image_id}/metadata/{id}': withBody(withImageItem, { meta: { colour: 'red' } }),
  'DELETE /images/{image_id}/metadata/{id}': withImageItem,
  'GET /os-baremetal-nodes': nothing,
  'GET /os-baremetal-nodes/{id}': named('1'),
  'POST /os-baremetal-nodes': () => ({ body: {} }),
  'DELETE /os-baremetal-nodes/{id}': named('1'),
  'POST /os-baremetal-nodes/{id}/action add_interface': withBody(named('1'), { add_interface: {} }),
  'POST /os-baremetal-nodes/{id}/action remove_interface': withBody(named('1'), { remove_interface: {} }),
  'GET /os-fixed-ips/{id}': id(async (cloud) => (await cloud.connected()).addresses.private[0].addr),
  'GET /os-floating-ip-dns': nothing,
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': () => ({ params: { domain_id: 'example.org', id: 'web' } }),
  'GET /os-floating-ip-pools': nothing,
  'GET /os-floating-ips': nothing,
  'POST /os-floating-ips': () => ({ body: { pool: 'public' } }),
  'GET /os-floating-ips/{id}': id(async (cloud) => (await cloud.floatingIp()).id),
  'DELETE /os-floating-ips/{id}': id(async (cloud) => (await cloud.floatingIp()).id),
  'GET /os-floating-ips-bulk': nothing,
  'GET /os-floating-ips-bulk/{id}': async (cloud, version) => {
    const { params, body } = await actions.addFloatingIp!(cloud, version);
    await cloud.made(cloud.as('2.1').post(`/servers/${params!.id}/action`, body));
    return { params: { id: await cloud.hostOf(params!.id!) } };
  },
  'GET /os-networks': nothing,
  'GET /os-networks/{id}': id(async (cloud) => cloud.ids.network),
  'GET /os-tenant-networks': nothing,
  'GET /os-tenant-networks/{id}': id(async (cloud) => cloud.ids.network),
  'GET /os-security-groups': nothing,
  'POST /os-security-groups': (cloud) => ({ body: { security_group: { name: cloud.name(), description: '' } } }),
  'GET /os-security-groups/{id}': withGroup,
  'PUT /os-security-groups/{id}': withBody(withGroup, groupBody),
  'DELETE /os-security-groups/{id}': withGroup,
  'POST /os-security-group-rules': async (cloud) => ({
    body: {
      security_group_rule: {
        parent_group_id: await cloud.securityGroup(),
        ip_protocol: 'tcp',
        from_port: 80,
        to_port: 80,
      },
    },
  }),
  'DELETE /os-security-group-rules/{id}': id(async (cloud) => {
    const { body } = await proxyCalls['POST /os-security-group-rules']!(cloud, '');
    return (await cloud.made(cloud.as('2.1').post('/os-security-group-rules', body))).security_group_rule.id;
  }),
  'GET /os-snapshots': nothing,
  'GET /os-snapshots/detail': nothing,
  'POST /os-snapshots': async (cloud) => ({ body: { snapshot: { volume_id: await cloud.volume() } } }),
  'GET /os-snapshots/{id}': id((cloud) => cloud.snapshot()),
  'DELETE /os-snapshots/{id}': id((cloud) => cloud.snapshot()),
  'GET /os-volumes': nothing,
  'GET /os-volumes/detail': nothing,
  'POST /os-volumes': () => ({ body: { volume: { size: 1 } } }),
  'GET /os-volumes/{id}': id((cloud) => cloud.volume()),
  'DELETE /os-volumes/{id}': id((cloud) => cloud.volume()),
};

const withAggregate = id((cloud) => cloud.aggregate());
const snapshotInfo = { snapshot_id: randomUUID(), type: 'qcow2', new_file: 'volume.2' };

const infrastructureCalls: Readonly<Record<string, Prepare>> = {
  'GET /os-aggregates': nothing,
  'POST /os-aggregates': (cloud) => ({ body: { aggregate: { name: cloud.name('aggregate') } } }),
  'GET /os-aggregates/{id}': withAggregate,
  'PUT /os-aggregates/{id}': async (cloud, version) => ({
    ...(await withAggregate(cloud, version)),
    body: { aggregate: { name: cloud.name('aggregate') } },
  }),
  'DELETE /os-aggregates/{id}': withAggregate,
  'POST /os-aggregates/{id}/action add_host': withBody(withAggregate, { add_host: { host: 'host1' } }),
  'POST /os-aggregates/{id}/action remove_host': async (cloud) => ({
    params: { id: await cloud.aggregate('host1') },
    body: { remove_host: { host: 'host1' } },
  }),
  'POST /os-aggregates/{id}/action set_metadata': withBody(withAggregate, { set_metadata: { metadata: { a: 'b' } } }),
  'POST /os-aggregates/{id}/images': async (cloud, version) => ({
    ...(await withAggregate(cloud, version)),
    body: { cache: [{ id: cloud.ids.image }] },
  }),
  'GET /os-availability-zone': nothing,
  'GET /os-availability-zone/detail': nothing,
  'GET /os-hosts': nothing,
  'GET /os-hosts/{id}': named('host1'),
  'PUT /os-hosts/{id}': withBody(named('host1'), { status: 'enable' }),
  'GET /os-hosts/{id}/reboot': id(async (cloud) => cloud.idleHost()),
  'GET /os-hosts/{id}/shutdown': id(async (cloud) => cloud.idleHost()),
  'GET /os-hosts/{id}/startup': id(async (cloud) => cloud.idleHost()),
  'GET /os-hypervisors': nothing,
  'GET /os-hypervisors/detail': nothing,
  'GET /os-hypervisors/statistics': nothing,
  'GET /os-hypervisors/{id}': id((cloud, version) => cloud.hypervisorId(version)),
  'GET /os-hypervisors/{id}/search': named('host'),
  'GET /os-hypervisors/{id}/servers': named('host'),
  'GET /os-hypervisors/{id}/uptime': id((cloud, version) => cloud.hypervisorId(version)),
  'GET /os-services': nothing,
  'PUT /os-services/{id}': async (cloud, version) =>
    from(version, 53)
      ? { params: { id: await cloud.serviceId('host1', version) }, body: { status: 'enabled' } }
      : { params: { id: 'enable' }, body: { host: 'host1', binary: 'nova-compute' } },
  'DELETE /os-services/{id}': id((cloud, version) => cloud.serviceId(cloud.idleHost(), version)),
  'POST /os-server-external-events': async (cloud) => ({
    body: { events: [{ server_uuid: (await cloud.server()).id, name: 'network-changed' }] },
  }),
  'POST /os-assisted-volume-snapshots': async (cloud) => ({
    body: { snapshot: { volume_id: (await cloud.attached()).id, create_info: snapshotInfo } },
  }),
  'DELETE /os-assisted-volume-snapshots/{id}': async (cloud) => ({
    params: { id: randomUUID() },
    query: `delete_info=${encodeURIComponent(JSON.stringify({ volume_id: (await cloud.attached()).id }))}`,
  }),
  'GET /os-instance_usage_audit_log': nothing,
  'GET /os-instance_usage_audit_log/{id}': named('2026-01-01 00:00:00'),
};

const withKeypair = id((cloud) => cloud.keypair());

const projectCalls: Readonly<Record<string, Prepare>> = {
  'GET /': nothing,
  'GET /extensions': nothing,
  'GET /extensions/{id}': named('os-keypairs'),
  'GET /versions/{id}': named('v2.1'),
  'GET /limits': nothing,
  'GET /os-keypairs': nothing,
  'POST /os-keypairs': (cloud) => ({ body: { keypair: { name: cloud.name('key'), public_key: PUBLIC_KEY } } }),
  'GET /os-keypairs/{id}': withKeypair,
  'DELETE /os-keypairs/{id}': withKeypair,
  'GET /os-migrations': nothing,
  'GET /os-quota-class-sets/{id}': named('gold'),
  'PUT /os-quota-class-sets/{id}': withBody(named('gold'), { quota_class_set: { cores: 7 } }),
  'GET /os-quota-sets/{id}': named('p1'),
  'GET /os-quota-sets/{id}/defaults': named('p1'),
  'GET /os-quota-sets/{id}/detail': named('p1'),
  'PUT /os-quota-sets/{id}': withBody(named('p1'), { quota_set: { cores: -1 } }),
  'DELETE /os-quota-sets/{id}': named('p1'),
  'GET /os-server-groups': nothing,
  'POST /os-server-groups': (cloud, version) => ({
    body: {
      server_group: {
        name: cloud.name('group'),
        ...(from(version, 64) ? { policy: 'affinity' } : { policies: ['affinity'] }),
      },
    },
  }),
  'GET /os-server-groups/{id}': id((cloud) => cloud.group()),
  'DELETE /os-server-groups/{id}': id((cloud) => cloud.group()),
  'GET /os-simple-tenant-usage': nothing,
  'GET /os-simple-tenant-usage/{id}': named('p1'),
  'GET /os-console-auth-tokens/{id}': async (cloud) => {
    const { id: server } = await cloud.server();
    const body = { remote_console: { protocol: 'vnc', type: 'novnc' } };
    const { remote_console } = await cloud.made(cloud.as('2.6').post(`/servers/${server}/remote-consoles`, body));
    return { params: { id: /token(?:=|%3D)([0-9a-f-]{36})$/.exec(remote_console.url)![1]! } };
  },
};

/** The other name of the collection of servers: called alike. */
const aliased = Object.fromEntries(
  Object.entries(serverCalls).map(([key, prepare]) => [key.replace('/servers', '/os-volumes_boot'), prepare]),
);

/** How each operation is called, by its key. */
export const calls: Readonly<Record<string, Prepare>> = {
  ...serverCalls,
  ...aliased,
  ...subResourceCalls,
  ...flavorCalls,
  ...proxyCalls,
  ...infrastructureCalls,
  ...projectCalls,
};
