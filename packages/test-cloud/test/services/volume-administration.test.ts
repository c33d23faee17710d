import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const highest = { 'OpenStack-API-Version': 'volume 3.71' };

async function volumes() {
  const cloud = await cloudUnderTest();
  const at = (token?: string) => {
    const raw = clientOf(cloud, token);
    return (method: string, path: string, body?: unknown) => raw(method, `/volume/v3/${path}`, body, highest);
  };
  const request = at();
  const member = at(cloud.token('demo', 'demo'));
  const project = (await clientOf(cloud)('GET', '/identity/v3/projects?name=demo')).body.projects[0].id as string;
  return { cloud, request, member, project };
}

describe('quotas of volumes', () => {
  it.each([
    [{ volumes: 1 }, 'volumes', { volume: { size: 1 } }, 'Maximum number of volumes allowed (1) exceeded'],
    [{ gigabytes: 2 }, 'volumes', { volume: { size: 2 } }, 'Requested 2G, quota is 2G and 1G has been consumed.'],
    [{ volumes_standard: 0 }, 'volumes', { volume: { size: 1, volume_type: 'standard' } }, "'volumes_standard'"],
    [{ per_volume_gigabytes: 3 }, 'volumes', { volume: { size: 4 } }, 'larger than maximum allowed limit 3G'],
    [{ snapshots: 0 }, 'snapshots', { snapshot: {} }, 'Maximum number of snapshots allowed (0) exceeded'],
    [{ gigabytes: 1 }, 'snapshots', { snapshot: {} }, 'Requested 1G, quota is 1G and 1G'],
    [{ backups: 0 }, 'backups', { backup: {} }, 'Maximum number of backups allowed (0) exceeded'],
    [{ backup_gigabytes: 0 }, 'backups', { backup: {} }, 'allowed Backup gigabytes quota'],
  ])('with %j reject %s', async (quota_set, path, body, message) => {
    const { request, member, project } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    expect((await request('PUT', `os-quota-sets/${project}`, { quota_set })).status).toBe(200);
    const [[one, given]] = Object.entries(body) as [[string, object]];
    const rejected = await member('POST', path, {
      [one]: { ...(path !== 'volumes' && { volume_id: volume.id }), ...given },
    });
    expect(rejected).toMatchObject({ status: 413, body: { overLimit: { message: expect.stringContaining(message) } } });
  });

  it('apply to the growth of a volume', async () => {
    const { request, member, project } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    await request('PUT', `os-quota-sets/${project}`, { quota_set: { gigabytes: 3 } });
    const extend = (new_size: number) => member('POST', `volumes/${volume.id}/action`, { 'os-extend': { new_size } });
    expect((await extend(4)).status).toBe(413);
    expect((await extend(3)).status).toBe(202);
  });
});

describe('administration of volumes', () => {
  it('finds the volumes of one project among those of all', async () => {
    const { cloud, request, member, project } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    const other = clientOf(cloud, cloud.token('ada', 'lab'));
    await other('POST', '/volume/v3/volumes', { volume: { size: 1 } });
    const { snapshot } = (await member('POST', 'snapshots', { snapshot: { volume_id: volume.id } })).body;
    const ids = async (path: string, many: string) =>
      (await request('GET', `${path}?all_tenants=1&project_id=${project}`)).body[many].map(({ id }: any) => id);
    expect(await ids('volumes', 'volumes')).toEqual([volume.id]);
    expect(await ids('volumes/detail', 'volumes')).toEqual([volume.id]);
    expect(await ids('snapshots', 'snapshots')).toEqual([snapshot.id]);
  });

  it('sorts by the former name of the field', async () => {
    const { member } = await volumes();
    for (const name of ['b', 'c', 'a']) await member('POST', 'volumes', { volume: { size: 1, name } });
    const { body } = await member('GET', 'volumes?sort_key=display_name&sort_dir=asc');
    expect(body.volumes.map(({ name }: any) => name)).toEqual(['a', 'b', 'c']);
  });

  it('hides private types from projects without access', async () => {
    const { request, member, project } = await volumes();
    const type = { name: 'secret', 'os-volume-type-access:is_public': false };
    const { id } = (await request('POST', 'types', { volume_type: type })).body.volume_type;
    const create = () => member('POST', 'volumes', { volume: { size: 1, volume_type: id } });
    expect((await create()).status).toBe(404);
    await request('POST', `types/${id}/action`, { addProjectAccess: { project } });
    expect((await create()).status).toBe(202);
  });

  it.each([
    ['types', 'volume_type', 'volume_types', 'os-volume-type-access:is_public'],
    ['group_types', 'group_type', 'group_types', 'is_public'],
  ])('lists public %s, and private ones on request', async (path, one, many, field) => {
    const { request } = await volumes();
    await request('POST', path, { [one]: { name: 'open' } });
    await request('POST', path, { [one]: { name: 'closed', [field]: false } });
    const names = async (query: string) => {
      const found = (await request('GET', `${path}${query}`)).body[many].map(({ name }: any) => name);
      return found.filter((name: string) => name === 'open' || name === 'closed').sort();
    };
    expect(await names('')).toEqual(['open']);
    expect(await names('?is_public=False')).toEqual(['closed']);
    expect(await names('?is_public=None')).toEqual(['closed', 'open']);
  });

  it('accepts reports on snapshots from members, and returns 404 for null volumes', async () => {
    const { request, member } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    const { snapshot } = (await member('POST', 'snapshots', { snapshot: { volume_id: volume.id } })).body;
    const act = (body: object) => member('POST', `snapshots/${snapshot.id}/action`, body);
    await request('POST', `snapshots/${snapshot.id}/action`, { 'os-reset_status': { status: 'creating' } });
    expect((await act({ 'os-update_snapshot_status': { status: 'creating', progress: '80%' } })).status).toBe(202);
    expect((await act({ 'os-reset_status': { status: 'error' } })).status).toBe(403);
    expect((await member('POST', 'snapshots', { snapshot: { volume_id: null } })).status).toBe(404);
  });

  it('changes the metadata of snapshots item by item', async () => {
    const { member } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    const { snapshot } = (await member('POST', 'snapshots', { snapshot: { volume_id: volume.id } })).body;
    const path = `snapshots/${snapshot.id}/metadata/tier`;
    expect((await member('PUT', path, { meta: { tier: 'gold' } })).body).toEqual({ meta: { tier: 'gold' } });
    expect((await member('GET', path)).body).toEqual({ meta: { tier: 'gold' } });
    expect((await member('PUT', path, { meta: { other: 'x' } })).status).toBe(400);
    expect((await member('DELETE', path)).status).toBe(200);
    expect((await member('GET', path)).status).toBe(404);
  });

  it('restores the metadata of a volume from its backup', async () => {
    const { member } = await volumes();
    const metadata = { tier: 'gold' };
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1, metadata } })).body;
    const { backup } = (await member('POST', 'backups', { backup: { volume_id: volume.id } })).body;
    const { restore } = (await member('POST', `backups/${backup.id}/restore`, { restore: {} })).body;
    expect((await member('GET', `volumes/${restore.volume_id}`)).body.volume.metadata).toEqual(metadata);
    expect((await member('GET', `backups/${backup.id}`)).body.backup).not.toHaveProperty('volume_metadata');
  });

  it('force-detaches a volume', async () => {
    const { request, member } = await volumes();
    const { volume } = (await member('POST', 'volumes', { volume: { size: 1 } })).body;
    const act = (client: typeof request, body: object) => client('POST', `volumes/${volume.id}/action`, body);
    await act(request, {
      'os-attach': { instance_uuid: '9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11', mountpoint: '/dev/vdb' },
    });
    const { attachment_id } = (await request('GET', `volumes/${volume.id}`)).body.volume.attachments[0];
    expect((await act(member, { 'os-force_detach': { attachment_id } })).status).toBe(403);
    await act(request, { 'os-reset_status': { status: 'error' } });
    expect((await act(request, { 'os-force_detach': { attachment_id } })).status).toBe(202);
    expect((await request('GET', `volumes/${volume.id}`)).body.volume.status).toBe('available');
    expect((await act(request, { 'os-force_detach': { attachment_id } })).status).toBe(400);
  });

  it('lists hosts and their volumes, and disables, enables and freezes services', async () => {
    const { request, member, project } = await volumes();
    await member('POST', 'volumes', { volume: { size: 3 } });
    expect((await member('GET', 'os-hosts')).status).toBe(403);
    const { hosts } = (await request('GET', 'os-hosts')).body;
    const host = hosts.find(({ service }: any) => service === 'cinder-volume').host_name;
    const usage = { volume_count: '1', total_volume_gb: '3', snapshot_count: '0', total_snapshot_gb: '0' };
    expect((await request('GET', `os-hosts/${host}`)).body.host).toEqual(
      ['(total)', project].map((one) => ({ resource: { host, project: one, ...usage } })),
    );

    const services = async (query: string) => (await request('GET', `os-services?${query}`)).body.services;
    expect(await services(`binary=cinder-volume&host=${host.split('@')[0]}`)).toMatchObject([{ host, frozen: false }]);
    const put = (what: string, body: object) => request('PUT', `os-services/${what}`, body);
    const binary = 'cinder-volume';
    expect(await put('disable-log-reason', { host, binary, disabled_reason: 'repair' })).toMatchObject({
      status: 200,
      body: { status: 'disabled', disabled: true, disabled_reason: 'repair' },
    });
    expect(await services(`host=${host}`)).toMatchObject([{ status: 'disabled', disabled_reason: 'repair' }]);
    expect((await request('GET', `os-hosts/${host}`)).status).toBe(404);
    expect((await put('enable', { host, binary })).body).toMatchObject({ status: 'enabled', disabled: false });
    expect((await put('disable', { host, binary: 'cinder-nothing' })).status).toBe(404);
    expect((await put('disable-log-reason', { host, binary, disabled_reason: null })).status).toBe(400);
    expect((await put('freeze', { host })).status).toBe(200);
    expect(await services(`host=${host}`)).toMatchObject([{ frozen: true }]);
    expect((await put('thaw', { host: 'elsewhere' })).status).toBe(400);
    expect((await request('PUT', `os-hosts/${host}`, { status: 'disable' })).body).toEqual({
      host,
      status: 'disabled',
    });
  });

  it.each(['os-hosts', 'capabilities'])('decodes the host in the path of %s once', async (path) => {
    const { request } = await volumes();
    expect((await request('GET', `${path}/volumes%40simulated`)).status).toBe(200);
    expect((await request('GET', `${path}/volumes%2540simulated`)).status).toBe(404);
    expect((await request('GET', `${path}/%25`)).status).toBe(404);
  });

  it('names the extensions that it serves', async () => {
    const { member } = await volumes();
    expect((await member('GET', 'extensions')).body.extensions).toContainEqual(
      expect.objectContaining({ name: 'Hosts', alias: 'os-hosts' }),
    );
  });
});

it.each([
  ['os-volume-manage', 'os-snapshot-manage'],
  ['manageable_volumes', 'manageable_snapshots'],
])('brings existing volumes and snapshots under management: %s, %s', async (ofVolumes, ofSnapshots) => {
  const cloud = await cloudUnderTest();
  const send = (token?: string) => (path: string, body: object) =>
    clientOf(cloud, token)('POST', `/volume/v3/${path}`, body, { 'OpenStack-API-Version': 'volume 3.8' });
  const request = send();
  const given = { host: 'volumes@simulated#pool', ref: { 'source-name': 'x' }, name: 'old', bootable: true };
  const created = await request(ofVolumes, { volume: given });
  expect(created).toMatchObject({ status: 202, body: { volume: { name: 'old', size: 1 } } });
  const { id } = created.body.volume;
  const snapshot = { volume_id: id, ref: { 'source-name': 'y' }, name: 's' };
  expect(await request(ofSnapshots, { snapshot })).toMatchObject({
    status: 202,
    body: { snapshot: { volume_id: id } },
  });
  expect((await request(ofVolumes, { volume: { ref: {} } })).status).toBe(400);
  expect((await request(ofVolumes, { volume: { ...given, host: 'host1@lvm' } })).status).toBe(400);
  expect((await request(ofSnapshots, { snapshot: { volume_id: id } })).status).toBe(400);
  expect((await send(cloud.token('demo', 'demo'))(ofVolumes, { volume: given })).status).toBe(403);
});
