import { expect, it } from 'vitest';
import { type ApiResponse, clientOf, cloudUnderTest } from '../clouds.js';

async function start() {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud);
  const requestAt = (minor: number) => (method: string, path: string, body?: unknown) =>
    raw(method, `/volume/v3/${path}`, body, { 'OpenStack-API-Version': `volume 3.${minor}` });
  const request = requestAt(71);
  const create = async (fields: object = {}) =>
    (await request('POST', 'volumes', { volume: { size: 1, ...fields } })).body.volume;
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  return { cloud, request, requestAt, create, member };
}

const expectRejected = (response: ApiResponse, message: string) =>
  expect(response).toMatchObject({ status: 400, body: { badRequest: { message } } });

it('a type keeps its specs and its encryption while it has volumes', async () => {
  const { request, create } = await start();
  const extra_specs = { tier: '1' };
  const { id } = (await request('POST', 'types', { volume_type: { name: 'fast', extra_specs } })).body.volume_type;
  const encryption = { provider: 'luks', control_location: 'front-end' };
  expect((await request('POST', `types/${id}/encryption`, { encryption })).status).toBe(200);
  await create({ volume_type: 'fast' });
  const inUse = 'Volume Type is currently in use.';
  expectRejected(await request('POST', `types/${id}/extra_specs`, { extra_specs }), inUse);
  expectRejected(await request('PUT', `types/${id}/extra_specs/tier`, { tier: '2' }), inUse);
  expectRejected(await request('DELETE', `types/${id}/extra_specs/tier`), inUse);
  const rejects = (verb: string) => `Cannot ${verb} encryption specs. Volume type in use.`;
  expectRejected(await request('POST', `types/${id}/encryption`, { encryption }), rejects('create'));
  expectRejected(await request('PUT', `types/${id}/encryption/x`, { encryption }), rejects('update'));
  expectRejected(await request('DELETE', `types/${id}/encryption/x`), rejects('delete'));
});

it('default types cannot be deleted', async () => {
  const { request } = await start();
  const { id } = (await request('POST', 'types', { volume_type: { name: 'fast' } })).body.volume_type;
  await request('PUT', 'default-types/p', { default_type: { volume_type: 'fast' } });
  const byDefault = (await request('GET', 'types/default')).body.volume_type.id;
  for (const type of [id, byDefault])
    expectRejected(
      await request('DELETE', `types/${type}`),
      `The volume type ${type} is a default volume type and cannot be deleted.`,
    );
  expect((await request('DELETE', 'default-types/p')).status).toBe(204);
  expect((await request('DELETE', `types/${id}`)).status).toBe(202);
});

it('members see only the specs of types that are for users', async () => {
  const { request, member } = await start();
  const extra_specs = { multiattach: '<is> True', volume_backend_name: 'simulated' };
  const { id } = (await request('POST', 'types', { volume_type: { name: 'shared', extra_specs } })).body.volume_type;
  const visible = { multiattach: '<is> True' };
  const path = `/volume/v3/types/${id}`;
  expect((await member('GET', path)).body.volume_type.extra_specs).toEqual(visible);
  expect((await member('GET', `${path}/extra_specs`)).body).toEqual({ extra_specs: visible });
  expect((await member('GET', `${path}/extra_specs/volume_backend_name`)).status).toBe(404);
  expect((await request('GET', `types/${id}`)).body.volume_type.extra_specs).toEqual(extra_specs);
});

it('volumes need a known zone, and a type that their group supports', async () => {
  const { request, create } = await start();
  const volume = (fields: object) => request('POST', 'volumes', { volume: { size: 1, ...fields } });
  expectRejected(await volume({ availability_zone: 'moon' }), "Availability zone 'moon' is invalid.");
  const group_type = (await request('POST', 'group_types', { group_type: { name: 'g' } })).body.group_type.id;
  const { id } = (await request('GET', 'types/default')).body.volume_type;
  const group = { group_type: 'g', volume_types: [id] };
  const group_id = (await request('POST', 'groups', { group })).body.group.id;
  expect((await request('GET', `groups/${group_id}`)).body.group.group_type).toBe(group_type);
  const missing = 'Invalid input received: volume_type must be provided when creating a volume in a group.';
  expectRejected(await volume({ group_id }), missing);
  expect((await volume({ group_id, volume_type: 'standard' })).status).toBe(400);
  expect((await create({ group_id, volume_type: id })).group_id).toBe(group_id);
});

it('a limit that was previously set cannot be reduced below the usage', async () => {
  const { request, create } = await start();
  await create();
  await create();
  const project =
    (await create()) && (await request('GET', 'volumes/detail')).body.volumes[0]['os-vol-tenant-attr:tenant_id'];
  const set = (volumes: number) => request('PUT', `os-quota-sets/${project}`, { quota_set: { volumes } });
  expect((await set(5)).status).toBe(200);
  expectRejected(
    await set(2),
    'Quota volumes limit must be equal or greater than existing resources. Current usage is 3 and the requested limit is 2.',
  );
  expect((await set(-1)).status).toBe(200);
});

it('snapshots of attached volumes need force until 3.65', async () => {
  const { request, requestAt, create } = await start();
  const { id } = await create();
  const attach = { instance_uuid: '9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11', mountpoint: '/dev/vdb' };
  expect((await request('POST', `volumes/${id}/action`, { 'os-attach': attach })).status).toBe(202);
  const snapshot = (minor: number, fields: object = {}) =>
    requestAt(minor)('POST', 'snapshots', { snapshot: { volume_id: id, ...fields } });
  expect((await snapshot(65)).status).toBe(400);
  expect((await snapshot(65, { force: true })).status).toBe(202);
  expect((await snapshot(66)).status).toBe(202);
  expect((await snapshot(66, { force: 'True' })).status).toBe(202);
  expect((await snapshot(66, { force: false })).status).toBe(400);
});

it('a volume shows the encryption of its type', async () => {
  const { request, create } = await start();
  const { id } = (await request('POST', 'types', { volume_type: { name: 'safe' } })).body.volume_type;
  const encryption = { provider: 'luks', control_location: 'front-end', cipher: 'aes-xts-plain64', key_size: '256' };
  await request('POST', `types/${id}/encryption`, { encryption });
  const path = `volumes/${(await create({ volume_type: 'safe' })).id}/encryption`;
  expect((await request('GET', path)).body).toEqual({ ...encryption, key_size: 256, encryption_key_id: null });
  expect((await request('GET', `${path}/cipher`)).body).toBe('aes-xts-plain64');
  expect((await request('GET', `volumes/${(await create()).id}/encryption`)).body).toEqual({ encryption_key_id: null });
});

it('backups require available snapshots of their volume, and are restored only while they are available', async () => {
  const { request, create } = await start();
  const [{ id }, other] = [await create(), await create()];
  const { snapshot } = (await request('POST', 'snapshots', { snapshot: { volume_id: id } })).body;
  const backup = (fields: object) => request('POST', 'backups', { backup: { snapshot_id: snapshot.id, ...fields } });
  expectRejected(
    await backup({ volume_id: other.id }),
    `Invalid volume: Volume ${other.id} does not match with snapshot.volume_id ${id}.`,
  );
  expect((await backup({ volume_id: id, snapshot_id: other.id })).status).toBe(404);
  const created = (await backup({ volume_id: id })).body.backup;
  const shown = (await request('GET', `backups/${created.id}`)).body.backup;
  expect(shown).toMatchObject({ snapshot_id: snapshot.id, data_timestamp: snapshot.created_at });
  await request('POST', `snapshots/${snapshot.id}/action`, { 'os-reset_status': { status: 'error' } });
  const message = 'Invalid snapshot: Snapshot to be backed up must be available, but the current status is "error".';
  expectRejected(await backup({ volume_id: id }), message);
  await request('POST', `volumes/${other.id}/action`, { 'os-reset_status': { status: 'error' } });
  expectRejected(
    await backup({ volume_id: other.id, snapshot_id: null }),
    'Invalid volume: Volume to be backed up must be available or in-use, but the current status is "error".',
  );
  await request('POST', `backups/${created.id}/action`, { 'os-reset_status': { status: 'error' } });
  expectRejected(
    await request('POST', `backups/${created.id}/restore`, { restore: {} }),
    'Invalid backup: Backup status must be available',
  );
});

it('pools have filters since 3.28, and limits of other projects are shown since 3.39', async () => {
  const { request, requestAt, create } = await start();
  await create();
  const found = async (minor: number, query: string) =>
    (await requestAt(minor)('GET', `scheduler-stats/get_pools?${query}`)).body.pools?.length;
  expect([await found(27, 'name=x'), await found(28, 'name=x')]).toEqual([1, 0]);
  await request('POST', 'types', { volume_type: { name: 'far', extra_specs: { volume_backend_name: 'other' } } });
  expect([await found(34, 'volume_type=far'), await found(35, 'volume_type=far')]).toEqual([1, 0]);
  expect([await found(30, 'colour=red'), await found(31, 'colour=red')]).toEqual([1, undefined]);
  const used = async (minor: number) =>
    (await requestAt(minor)('GET', 'limits?project_id=other')).body.limits.absolute.totalVolumesUsed;
  expect([await used(38), await used(39)]).toEqual([1, 0]);
});

it('earlier clients can request a volume that several servers can attach', async () => {
  const { request, create } = await start();
  const { id } = await create({ multiattach: true });
  expect((await request('GET', `volumes/${id}`)).body.volume.multiattach).toBe(true);
});
