import { from, id, named, type Prepare, withBody } from '../contract/calls/call.js';
import { type Cloud, PUBLIC_KEY } from '../contract/cloud.js';

/** Creates a server with addresses and a volume, which is in ERROR after a failed rebuild. Returns its id. */
export async function faultyServer(cloud: Cloud): Promise<string> {
  const { id: server, name } = await serverWithVolume(cloud);
  const rule = cloud.driver.addRule({ match: { name, verb: 'rebuild' }, fail: 'disk on fire' });
  await cloud.made(cloud.as('2.35').act(server, 'rebuild', { imageRef: cloud.ids.image }));
  rule.remove();
  return server;
}

async function serverWithVolume(cloud: Cloud): Promise<any> {
  const server = await cloud.connected();
  const volumeAttachment = { volumeId: await cloud.volume() };
  await cloud.made(cloud.as('2.35').post(`/servers/${server.id}/os-volume_attachments`, { volumeAttachment }));
  await cloud.api.idle();
  return server;
}

/** Creates a security group whose rules allow addresses and another group. Returns its id. */
export async function groupWithRules(cloud: Cloud): Promise<string> {
  const parent_group_id = await cloud.securityGroup();
  for (const source of [{ cidr: '192.0.2.0/24' }, { group_id: await cloud.securityGroup() }]) {
    const security_group_rule = { parent_group_id, ip_protocol: 'tcp', from_port: 80, to_port: 80, ...source };
    await cloud.made(cloud.as('2.1').post('/os-security-group-rules', { security_group_rule }));
  }
  return parent_group_id;
}

/** Creates an image of a server. Returns its id. */
export async function imageOfServer(cloud: Cloud): Promise<string> {
  return cloud.image({ auto_disk_config: 'True', instance_uuid: (await cloud.server()).id });
}

/** Creates a server group with a rule. Returns its id. */
export async function groupWithLimit(cloud: Cloud): Promise<string> {
  const server_group = { name: cloud.name('group'), policy: 'anti-affinity', rules: { max_server_per_host: 2 } };
  return (await cloud.made(cloud.as('2.64').post('/os-server-groups', { server_group }))).server_group.id;
}

const withServers: Prepare = (_, version) => (from(version, 53) ? { query: 'with_servers=true' } : {});

/** Calls whose responses have fields that are absent from the responses to the contract test's calls. */
export const moreCalls: Readonly<Record<string, Prepare>> = {
  'GET /servers/{id}': id(faultyServer),
  'PUT /servers/{id}': withBody(id(faultyServer), { server: { name: 'renamed' } }),
  'POST /servers/{id}/action rebuild': async (cloud) => ({
    params: { id: (await serverWithVolume(cloud)).id },
    body: { rebuild: { imageRef: cloud.ids.image } },
  }),
  'POST /os-keypairs': (cloud, version) => {
    const name = cloud.name('key');
    return { body: { keypair: from(version, 92) ? { name, public_key: PUBLIC_KEY } : { name } } };
  },
  'POST /os-server-groups': (cloud, version) => ({
    body: {
      server_group: {
        name: cloud.name('group'),
        ...(from(version, 64)
          ? { policy: 'anti-affinity', rules: { max_server_per_host: 2 } }
          : { policies: ['anti-affinity'] }),
      },
    },
  }),
  'GET /os-server-groups/{id}': id(groupWithLimit),
  'GET /os-hypervisors': withServers,
  'GET /os-hypervisors/detail': withServers,
  'GET /os-hypervisors/{id}': async (cloud, version) => {
    const host = await cloud.hostOf((await cloud.server()).id);
    const { hypervisors } = await cloud.made(cloud.as(version).get('/os-hypervisors'));
    const { id: hypervisor } = hypervisors.find((one: any) => one.hypervisor_hostname === host);
    return { params: { id: String(hypervisor) }, ...(await withServers(cloud, version)) };
  },
  'GET /os-simple-tenant-usage': () => ({ query: 'detailed=1' }),
  'GET /os-console-auth-tokens/{id}': async (cloud, version) => {
    const { id: server } = await cloud.server();
    const direct = from(version, 99);
    const remote_console = direct ? { protocol: 'spice', type: 'spice-direct' } : { protocol: 'vnc', type: 'novnc' };
    const opened = cloud.as(direct ? '2.99' : '2.6').post(`/servers/${server}/remote-consoles`, { remote_console });
    const { url } = (await cloud.made(opened)).remote_console;
    return { params: { id: /token(?:=|%3D)([0-9a-f-]{36})$/.exec(url)![1]! } };
  },
  'POST /os-server-external-events': async (cloud) => ({
    body: { events: [{ server_uuid: (await cloud.server()).id, name: 'network-changed', tag: 'tag' }] },
  }),
  'GET /os-migrations': async (cloud) => ({ after: (await cloud.moving()).release }),
  'PUT /os-services/{id}': async (cloud, version) => {
    const host = cloud.idleHost();
    const disabled = { disabled_reason: 'maintenance' };
    if (from(version, 53))
      return { params: { id: await cloud.serviceId(host, version) }, body: { status: 'disabled', ...disabled } };
    const service = { host, binary: 'nova-compute' };
    return from(version, 11)
      ? { params: { id: 'force-down' }, body: { ...service, forced_down: true } }
      : { params: { id: 'disable-log-reason' }, body: { ...service, ...disabled } };
  },
  'PUT /os-hosts/{id}': withBody(named('host1'), { maintenance_mode: 'disable' }),
  'GET /images/{id}': id(imageOfServer),
  'GET /os-security-groups/{id}': id(groupWithRules),
  'POST /os-security-group-rules': async (cloud) => {
    const [parent_group_id, group_id] = [await cloud.securityGroup(), await cloud.securityGroup()];
    const ports = { ip_protocol: 'tcp', from_port: 80, to_port: 80 };
    return { body: { security_group_rule: { parent_group_id, group_id, ...ports } } };
  },
  'GET /servers/{server_id}/os-security-groups': async (cloud) => {
    const { id: server_id } = await cloud.connected();
    await cloud.made(cloud.as('2.1').act(server_id, 'addSecurityGroup', { name: await groupWithRules(cloud) }));
    return { params: { server_id } };
  },
  'GET /os-volumes/{id}': id(async (cloud) => (await cloud.attached()).id),
};
