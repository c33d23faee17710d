import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE, NETWORK } from '../clouds.js';

/** Starts a cloud, and returns a function that sends requests as a user with these roles in a project. */
async function start() {
  const cloud = await cloudUnderTest();
  const as = (roles: readonly string[], project = 'demo') => {
    const send = clientOf(cloud, cloud.token(roles.includes('admin') ? 'admin' : project, project, roles));
    return async (method: string, path: string, body?: unknown) => {
      const headers: Record<string, string> = path.startsWith('/volume')
        ? { 'OpenStack-API-Version': 'volume 3.71' }
        : {};
      const response = await send(method, path, body, headers);
      return { status: response.status, body: response.body, text: JSON.stringify(response.body) };
    };
  };
  return { cloud, as, admin: as(['admin']) };
}

const NEW_IMAGE = { name: 'i', disk_format: 'raw', container_format: 'bare' };
const NEW_VOLUME = { volume: { size: 1 } };

describe.each(['member', 'manager', 'service', 'Member'])('a caller with only the role %s', (role) => {
  it('reads and creates resources', async () => {
    const { as } = await start();
    const request = as([role]);
    for (const [path, body] of [
      ['/image/v2/images', NEW_IMAGE],
      ['/network/v2.0/networks', { network: {} }],
      ['/volume/v3/volumes', NEW_VOLUME],
    ] as const) {
      expect((await request('GET', path)).status).toBe(200);
      expect([201, 202]).toContain((await request('POST', path, body)).status);
    }
    expect((await request('GET', '/network/v2.0/networks')).text).toContain('"shared":false');
  });
});

describe('a caller with another role', () => {
  it('reads only shared networks', async () => {
    const { as, admin } = await start();
    const { id } = (await admin('POST', '/network/v2.0/networks', { network: {} })).body.network;
    const request = as(['creator']);
    const { networks } = (await request('GET', '/network/v2.0/networks')).body;
    expect(networks.map((network: { id: string }) => network.id)).toContain(NETWORK);
    expect(networks.map((network: { id: string }) => network.id)).not.toContain(id);
    for (const [method, body] of [['GET'], ['PUT', { network: {} }], ['DELETE']] as const)
      expect(await request(method, `/network/v2.0/networks/${id}`, body)).toMatchObject({
        status: 404,
        body: { NeutronError: { type: 'HTTPNotFound' } },
      });
  });

  it('reads no images and volumes', async () => {
    const { as, admin } = await start();
    const request = as(['creator']);
    const { id } = (await admin('POST', '/volume/v3/volumes', NEW_VOLUME)).body.volume;
    expect((await request('GET', '/image/v2/images')).text).toContain('complete get_images action');
    for (const path of ['', '/members'])
      expect((await request('GET', `/image/v2/images/${IMAGE}${path}`)).status).toBe(404);
    expect((await request('GET', '/volume/v3/volumes')).text).toContain('volume:get_all ');
    expect((await request('GET', '/volume/v3/snapshots')).text).toContain('volume:get_all_snapshots ');
    expect((await request('GET', `/volume/v3/volumes/${id}`)).text).toContain('volume:get ');
  });
});

describe('a reader', () => {
  it('sees images, but cannot download them', async () => {
    const { as } = await start();
    const request = as(['reader']);
    expect((await request('GET', `/image/v2/images/${IMAGE}`)).status).toBe(200);
    expect(await request('GET', `/image/v2/images/${IMAGE}/file`)).toMatchObject({ status: 403 });
    expect((await as(['member'])('GET', `/image/v2/images/${IMAGE}/file`)).status).not.toBe(403);
  });

  it('receives 404 for resources of other projects', async () => {
    const { as } = await start();
    const owner = as(['member'], 'lab');
    const network = (await owner('POST', '/network/v2.0/networks', { network: {} })).body.network.id;
    const volume_id = (await owner('POST', '/volume/v3/volumes', NEW_VOLUME)).body.volume.id;
    const image = (await owner('POST', '/image/v2/images', { ...NEW_IMAGE, visibility: 'private' })).body.id;
    const request = as(['reader']);
    for (const [method, path, body] of [
      ['PUT', `/network/v2.0/networks/${network}`, { network: {} }],
      ['POST', '/network/v2.0/ports', { port: { network_id: network } }],
      ['DELETE', `/image/v2/images/${image}`],
      ['DELETE', `/volume/v3/volumes/${volume_id}`],
      ['POST', `/volume/v3/volumes/${volume_id}/action`, { 'os-extend': { new_size: 2 } }],
      ['POST', '/volume/v3/volumes', { volume: { source_volid: volume_id } }],
      ['POST', '/volume/v3/snapshots', { snapshot: { volume_id } }],
      ['POST', '/volume/v3/backups', { backup: { volume_id } }],
      ['POST', '/volume/v3/volume-transfers', { transfer: { volume_id } }],
      ['POST', '/volume/v3/attachments', { attachment: { volume_uuid: volume_id } }],
    ] as const)
      expect([method, path, (await request(method, path, body)).status]).toEqual([method, path, 404]);
  });

  it('creates ports on shared networks, without attributes that require the role `member`', async () => {
    const { as, admin } = await start();
    const request = as(['reader']);
    const create = (port: object) => request('POST', '/network/v2.0/ports', { port });
    const { id } = (await admin('POST', '/network/v2.0/networks', { network: { shared: true } })).body.network;
    expect((await create({ network_id: id })).status).toBe(201);
    for (const [field, value] of [
      ['device_id', 'x'],
      ['tags', ['x']],
      ['mac_address', 'fa:16:3e:00:00:01'],
      ['allowed_address_pairs', [{ ip_address: '192.0.2.1' }]],
    ] as const)
      expect(await create({ network_id: id, [field]: value })).toMatchObject({
        status: 403,
        body: { NeutronError: { message: `(rule:create_port:${field}) is disallowed by policy` } },
      });
    const own = (await admin('POST', '/network/v2.0/networks', { network: {} })).body.network;
    expect((await create({ network_id: own.id })).text).toContain('(rule:create_port) is disallowed');
  });
});

describe('a manager', () => {
  it('changes the QoS policies of its project and their rules, but not those of other projects', async () => {
    const { as, admin } = await start();
    const at = '/network/v2.0/qos/policies';
    const manager = as(['manager']);
    const own = (await manager('POST', at, { policy: { name: 'own' } })).body.policy;
    const rule = { dscp_marking_rule: { dscp_mark: 8 } };
    expect((await manager('POST', `${at}/${own.id}/dscp_marking_rules`, rule)).status).toBe(201);
    expect((await as(['manager'], 'lab')('GET', `${at}/${own.id}`)).status).toBe(404);
    const shared = (await as(['admin'], 'lab')('POST', at, { policy: { name: 'shared', shared: true } })).body.policy;
    const rules = `${at}/${shared.id}/dscp_marking_rules`;
    const { id } = (await admin('POST', rules, rule)).body.dscp_marking_rule;
    expect((await manager('GET', `${rules}/${id}`)).status).toBe(200);
    expect((await manager('PUT', `${at}/${shared.id}`, { policy: {} })).status).toBe(404);
    for (const [method, path, body, policy] of [
      ['POST', rules, rule, 'create_policy_dscp_marking_rule'],
      ['PUT', `${rules}/${id}`, rule, 'update_policy_dscp_marking_rule'],
      ['DELETE', `${rules}/${id}`, undefined, 'delete_policy_dscp_marking_rule'],
    ] as const)
      expect((await manager(method, path, body)).text).toContain(`(rule:${policy}) is disallowed`);
  });

  it('chooses addresses that members cannot choose', async () => {
    const { as, admin } = await start();
    const { id: network_id } = (await admin('POST', '/network/v2.0/networks', { network: {} })).body.network;
    const { id } = (await admin('POST', '/network/v2.0/ports', { port: { network_id } })).body.port;
    const floating = (await admin('GET', '/network/v2.0/networks?router:external=true')).body.networks[0];
    const subnet = (await admin('GET', `/network/v2.0/subnets/${floating.subnets[0]}`)).body.subnet;
    const requests = [
      ['PUT', `/network/v2.0/ports/${id}`, { port: { mac_address: 'fa:16:3e:00:00:01' } }],
      [
        'POST',
        '/network/v2.0/floatingips',
        { floatingip: { floating_network_id: floating.id, floating_ip_address: subnet.allocation_pools[0].end } },
      ],
    ] as const;
    for (const [method, path, body] of requests) {
      expect((await as(['member'])(method, path, body)).text).toContain('is disallowed by policy');
      expect((await as(['manager'])(method, path, body)).status).toBeLessThan(300);
    }
  });

  it('sees the quotas of its project, and the default quotas of others', async () => {
    const { as, admin } = await start();
    const at = '/network/v2.0/quotas';
    const idOf = async (project: string) =>
      (await as(['member'], project)('GET', `${at}/project`)).body.project.project_id;
    const [own, other] = [await idOf('demo'), await idOf('lab')];
    for (const id of [own, other]) await admin('PUT', `${at}/${id}`, { quota: { network: 7 } });
    const manager = as(['manager']);
    expect((await manager('GET', at)).body.quotas).toMatchObject([{ project_id: own, network: 7 }]);
    expect((await manager('GET', `${at}/${other}`)).body.quota.network).toBe(100);
    expect((await manager('GET', `${at}/${other}/details`)).status).toBe(403);
    expect((await as(['member'])('GET', at)).text).toContain('(rule:get_quota) is disallowed');
    expect((await as(['reader'])('GET', `${at}/${own}`)).body.quota.network).toBe(7);
  });

  it('changes the metering labels of its project', async () => {
    const { as } = await start();
    const at = '/network/v2.0/metering/metering-label';
    const label = (await as(['manager'])('POST', `${at}s`, { metering_label: {} })).body.metering_label;
    const rule = { metering_label_rule: { metering_label_id: label.id, direction: 'ingress' } };
    const { id } = (await as(['manager'])('POST', `${at}-rules`, rule)).body.metering_label_rule;
    const other = as(['manager'], 'lab');
    expect((await other('POST', `${at}-rules`, rule)).status).toBe(404);
    expect((await other('DELETE', `${at}-rules/${id}`)).status).toBe(404);
    expect((await other('DELETE', `${at}s/${label.id}`)).status).toBe(404);
    expect((await as(['manager'])('DELETE', `${at}-rules/${id}`)).status).toBe(204);
  });
});
