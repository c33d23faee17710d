import { describe, expect, it } from 'vitest';
import { clientOf } from '../clouds.js';
import { at, highest, volumes } from './volume-client.js';

describe('volumes', () => {
  it('change metadata only if it matches the ETag of the request', async () => {
    const { cloud, raw, request, volume } = await volumes();
    const { id } = await volume({ metadata: { a: '1' } });
    const path = `volumes/${id}/metadata`;
    const etag = (await request('GET', path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^[0-9a-f]{32}$/);
    const put = (tag: string, metadata: object, headers: Record<string, string> = highest) =>
      raw('PUT', at(path), { metadata }, { ...headers, 'If-Match': tag });
    expect(await put(etag, { a: '2' })).toMatchObject({ status: 200, body: { metadata: { a: '2' } } });
    expect((await put(etag, { a: '3' })).status).toBe(412);
    expect((await request('GET', path)).body.metadata).toEqual({ a: '2' });
    expect((await put('*', { a: '4' })).status).toBe(200);
    expect((await put(etag, { a: '5' }, { 'OpenStack-API-Version': 'volume 3.14' })).status).toBe(200);
    const writes = Array.from({ length: 5 }, (_, key) => request('POST', path, { metadata: { [`k${key}`]: 'v' } }));
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(Object.keys((await request('GET', path)).body.metadata)).toHaveLength(6);
    expect(cloud.unhandled()).toEqual([]);
  });

  it('show the image and the type that they were created from', async () => {
    const { cloud, request, volume } = await volumes();
    const created = await volume({ display_name: 'old', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b' });
    expect(created).toMatchObject({ name: 'old', volume_type: '__DEFAULT__', status: 'creating' });
    const shown = (await request('GET', `volumes/${created.id}`)).body.volume;
    const project = (await clientOf(cloud)('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    expect(shown['os-vol-tenant-attr:tenant_id']).toBe(project);
    expect(shown.volume_image_metadata.image_name).toBe('cirros');
    expect(created.volume_type_id).toMatch(/-/);
  });

  it('reject unknown fields, and can be filtered by known fields', async () => {
    const { cloud, request, raw, volume } = await volumes();
    expect((await request('POST', 'volumes', { volume: { size: 1, colour: 'red' } })).status).toBe(400);
    await volume({ name: 'web-1', metadata: { tier: 'gold' } });
    await volume({ name: 'db-1', size: 2 });
    const found = async (query: string) =>
      (await request('GET', `volumes?${query}`)).body.volumes.map((v: any) => v.name);
    expect(await found(`metadata=${encodeURIComponent("{'tier': 'gold'}")}`)).toEqual(['web-1']);
    expect(await found('name~=web')).toEqual(['web-1']);
    expect(await found('sort=size:asc,name:desc')).toEqual(['web-1', 'db-1']);
    expect(await found('created_at=gt:2001-01-01T00:00:00')).toHaveLength(2);
    expect(await found('created_at=lt:2001-01-01T00:00:00')).toEqual([]);
    expect(await found('colour=red')).toEqual([]);
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    expect((await member('GET', at('volumes?colour=red'), undefined, highest)).status).toBe(400);
    expect((await raw('GET', at('volumes?sort=colour'))).status).toBe(400);
    expect((await request('GET', 'volumes?with_count=true&limit=1')).body).toMatchObject({
      count: 2,
      volumes_links: [{ rel: 'next' }],
    });
  });

  it('are deleted with their snapshots if requested, and can be changed by actions', async () => {
    const { cloud, request, volume } = await volumes();
    const { id } = await volume();
    await request('POST', 'snapshots', { snapshot: { volume_id: id } });
    expect((await request('DELETE', `volumes/${id}`)).status).toBe(400);
    expect((await request('DELETE', `volumes/${id}?cascade=true`)).status).toBe(202);
    expect((await request('GET', 'snapshots')).body.snapshots).toEqual([]);
    const other = (await volume()).id;
    const act = (body: object) => request('POST', `volumes/${other}/action`, body);
    expect((await act({ 'os-set_bootable': { bootable: true } })).status).toBe(200);
    const metadata = await act({ 'os-set_image_metadata': { metadata: { os: 'tiny' } } });
    expect(metadata).toMatchObject({ status: 200, body: { metadata: { os: 'tiny' } } });
    expect((await act({ 'os-reset_status': { status: 'error' } })).status).toBe(202);
    expect((await act({ 'os-reimage': { image_id: '70a599e0-31e7-49b7-b260-868f441e862b' } })).status).toBe(202);
    expect((await act({ 'os-dance': {} })).status).toBe(400);
    expect(cloud.unhandled()).toMatchObject([{ service: 'volume', url: expect.stringContaining('#os-dance') }]);
    expect((await act({ 'os-unmanage': {} })).status).toBe(202);
    expect((await request('GET', `volumes/${other}`)).status).toBe(404);
  });

  it('have snapshots with a status', async () => {
    const { request, volume } = await volumes();
    const { id } = (await request('POST', 'snapshots', { snapshot: { volume_id: (await volume()).id } })).body.snapshot;
    const act = (body: object) => request('POST', `snapshots/${id}/action`, body);
    const report = { 'os-update_snapshot_status': { status: 'error', progress: '50%' } };
    expect((await act(report)).status).toBe(400);
    expect((await act({ 'os-reset_status': { status: 'creating' } })).status).toBe(202);
    expect((await act(report)).status).toBe(202);
    expect((await request('GET', `snapshots/${id}`)).body.snapshot).toMatchObject({
      status: 'error',
      'os-extended-snapshot-attributes:progress': '50%',
    });
    expect((await act({ 'os-force_delete': {} })).status).toBe(202);
    expect((await request('GET', `snapshots/${id}`)).status).toBe(404);
  });
});

describe('volume types', () => {
  it('have specs, access, encryption and a quality of service', async () => {
    const { cloud, request } = await volumes();
    const expected = { name: 'fast', 'os-volume-type-access:is_public': false, extra_specs: { tier: '1' } };
    const { id } = (await request('POST', 'types', { volume_type: expected })).body.volume_type;
    expect((await request('POST', `types/${id}/extra_specs`, { extra_specs: { a: 'b' } })).body).toEqual({
      extra_specs: { a: 'b' },
    });
    expect((await request('GET', `types/${id}/extra_specs/tier`)).body).toEqual({ tier: '1' });
    expect((await request('PUT', `types/${id}/extra_specs/tier`, { tier: '2' })).body).toEqual({ tier: '2' });
    expect((await request('DELETE', `types/${id}/extra_specs/a`)).status).toBe(202);
    expect((await request('GET', `types/${id}/extra_specs`)).body).toEqual({ extra_specs: { tier: '2' } });

    const project = (await clientOf(cloud)('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    const seen = async () => (await member('GET', at('types'))).body.volume_types.map(({ name }: any) => name);
    expect(await seen()).toEqual(['standard', '__DEFAULT__']);
    expect((await request('POST', `types/${id}/action`, { addProjectAccess: { project } })).status).toBe(202);
    expect((await request('POST', `types/${id}/action`, { addProjectAccess: { project } })).status).toBe(409);
    expect((await request('GET', `types/${id}/os-volume-type-access`)).body.volume_type_access).toEqual([
      { volume_type_id: id, project_id: project },
    ]);
    expect(await seen()).toContain('fast');

    const encryption = { provider: 'luks', cipher: 'aes-xts-plain64', key_size: 256, control_location: 'front-end' };
    expect((await request('POST', `types/${id}/encryption`, { encryption })).body).toEqual({
      encryption: { ...encryption, volume_type_id: id, encryption_id: id },
    });
    expect((await request('GET', `types/${id}/encryption/provider`)).body).toEqual({ provider: 'luks' });
    expect((await request('PUT', `types/${id}/encryption/${id}`, { encryption: { key_size: 512 } })).status).toBe(200);
    expect((await request('GET', `types/${id}/encryption`)).body).toMatchObject({ ...encryption, key_size: 512 });
    expect((await request('DELETE', `types/${id}/encryption/${id}`)).status).toBe(202);

    const specs = { name: 'limited', consumer: 'front-end', read_iops_sec: '100' };
    const qos = (await request('POST', 'qos-specs', { qos_specs: specs })).body.qos_specs;
    expect(qos).toMatchObject({ name: 'limited', consumer: 'front-end', specs: { read_iops_sec: '100' } });
    expect((await request('GET', `qos-specs/${qos.id}/associate?vol_type_id=${id}`)).status).toBe(202);
    expect((await request('GET', `qos-specs/${qos.id}/associations`)).body.qos_associations).toMatchObject([
      { name: 'fast' },
    ]);
    expect((await request('GET', `types/${id}`)).body.volume_type.qos_specs_id).toBe(qos.id);
    expect((await request('DELETE', `qos-specs/${qos.id}`)).status).toBe(400);
    expect((await request('DELETE', `qos-specs/${qos.id}?force=true`)).status).toBe(202);
    expect((await request('GET', 'types/default')).body.volume_type.name).toBe('__DEFAULT__');
  });

  it('have their own limits in quota sets', async () => {
    const { cloud, request, volume } = await volumes();
    await volume({ size: 3, volume_type: 'standard' });
    const project = (await clientOf(cloud)('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    const set = await request('PUT', `os-quota-sets/${project}`, { quota_set: { gigabytes_standard: 50 } });
    expect(set.body.quota_set).toMatchObject({ gigabytes_standard: 50, volumes_standard: -1 });
    const used = (await request('GET', `os-quota-sets/${project}?usage=True`)).body.quota_set;
    expect(used.gigabytes_standard).toMatchObject({ limit: 50, in_use: 3 });
    expect((await request('PUT', `os-quota-sets/${project}`, { quota_set: { colours: 1 } })).status).toBe(400);

    const { id } = (await request('GET', 'types?name=standard')).body.volume_types[0];
    expect((await request('PUT', `types/${id}`, { volume_type: { name: 'renamed' } })).status).toBe(200);
    const renamed = (await request('GET', `os-quota-sets/${project}?usage=True`)).body.quota_set;
    expect(renamed.gigabytes_renamed).toMatchObject({ limit: 50, in_use: 3 });
    expect(renamed).not.toHaveProperty('gigabytes_standard');
    expect((await request('GET', 'volumes/detail')).body.volumes[0]).toMatchObject({ volume_type: 'renamed' });
  });
});

describe('other operations of the volume service', () => {
  it('include the transfer of a volume to another project with a key', async () => {
    const { cloud, request, volume } = await volumes();
    const { id } = await volume();
    const created = (await request('POST', 'volume-transfers', { transfer: { volume_id: id, name: 'gift' } })).body
      .transfer;
    expect(created.auth_key).toMatch(/^\w{16}$/);
    expect((await request('GET', `volumes/${id}`)).body.volume.status).toBe('awaiting-transfer');
    expect((await request('GET', `os-volume-transfer/${created.id}`)).body.transfer).not.toHaveProperty('auth_key');
    const other = clientOf(cloud, cloud.token('ada', 'lab'));
    const accept = (auth_key: string) =>
      other('POST', at(`volume-transfers/${created.id}/accept`), { accept: { auth_key } }, highest);
    expect((await accept('wrong')).status).toBe(400);
    expect((await accept(created.auth_key)).status).toBe(202);
    expect((await other('GET', at(`volumes/${id}`))).body.volume.status).toBe('available');
    expect((await request('GET', 'volumes')).body.volumes).toEqual([]);
  });

  it('include backups and their restoration', async () => {
    const { cloud, request, volume } = await volumes();
    const { id } = await volume({ size: 4 });
    const created = (await request('POST', 'backups', { backup: { volume_id: id, name: 'b' } })).body.backup;
    const full = (await request('GET', `backups/${created.id}`)).body.backup;
    expect(full).toMatchObject({ status: 'available', size: 4, is_incremental: false, volume_id: id });
    const other = clientOf(cloud, cloud.token('ada', 'lab'));
    const foreign = await other('POST', at('volumes'), { volume: { backup_id: created.id } }, highest);
    expect(foreign).toMatchObject({
      status: 404,
      body: { itemNotFound: { message: `Backup ${created.id} could not be found.` } },
    });
    const more = await request('POST', 'backups', { backup: { volume_id: id, incremental: true } });
    expect((await request('GET', `backups/${more.body.backup.id}`)).body.backup.is_incremental).toBe(true);
    expect((await request('DELETE', `backups/${created.id}`)).status).toBe(400);
    const hasDependents = async () => (await request('GET', `backups/${created.id}`)).body.backup.has_dependent_backups;
    expect(await hasDependents()).toBe(true);
    await request('DELETE', `backups/${more.body.backup.id}`);
    expect(await hasDependents()).toBe(false);
    const restored = await request('POST', `backups/${created.id}/restore`, { restore: {} });
    expect(restored).toMatchObject({ status: 202, body: { restore: { backup_id: created.id } } });
    expect((await request('GET', `volumes/${restored.body.restore.volume_id}`)).body.volume.size).toBe(4);
  });

  it.each([
    'messages',
    'group_types',
    'groups/detail',
    'group_snapshots/detail',
    'scheduler-stats/get_pools?detail=true',
    'resource_filters',
    'clusters',
    'volume-transfers/detail',
    'default-types',
    'backups/detail',
    'os-services?binary=cinder-volume',
  ])('include GET %s', async (path) => {
    const { cloud, request } = await volumes();
    expect((await request('GET', path)).status).toBe(200);
    expect(cloud.unhandled()).toEqual([]);
  });
});
