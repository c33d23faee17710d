import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE, serverBody } from '../clouds.js';

describe('volumes', () => {
  it('change with operations of the compute service', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { id } = (await request('POST', '/volume/v3/volumes', { volume: { size: 2, name: 'disk' } })).body.volume;
    const volume = async () => (await request('GET', `/volume/v3/volumes/${id}`)).body.volume;
    expect(await volume()).toMatchObject({ status: 'available', size: 2, attachments: [], bootable: 'false' });
    const server = (await request('POST', '/compute/v2.1/servers', serverBody())).body.server.id;
    await cloud.idle();
    const path = `/compute/v2.1/servers/${server}/os-volume_attachments`;
    await request('POST', path, { volumeAttachment: { volumeId: id } });
    await cloud.idle();
    expect(await volume()).toMatchObject({
      status: 'in-use',
      attachments: [{ server_id: server, device: '/dev/vdb' }],
    });
    expect((await request('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(400);
    await request('DELETE', `${path}/${id}`);
    await cloud.idle();
    expect(await volume()).toMatchObject({ status: 'available', attachments: [] });
    expect((await request('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(202);
    expect((await request('GET', `/volume/v3/volumes/${id}`)).status).toBe(404);
  });

  it('are also found at paths with a project id, and by their fields', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const project = (await request('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    for (const name of ['a', 'b'])
      await request('POST', `/volume/v3/${project}/volumes`, { volume: { size: 1, name, imageRef: IMAGE } });
    const listed = await request('GET', `/volume/v3/${project}/volumes/detail?name=a`);
    expect(listed.body.volumes).toMatchObject([
      { name: 'a', bootable: 'true', volume_image_metadata: { image_id: IMAGE } },
    ]);
    expect(listed.headers.get('openstack-api-version')).toBe('volume 3.0');
    const versions = { 'OpenStack-API-Version': 'compute 2.1, volumev3 3.27' };
    const versioned = await request('GET', '/volume/v3/volumes', undefined, versions);
    expect(versioned.headers.get('openstack-api-version')).toBe('volume 3.27');
    const first = await request('GET', '/volume/v3/volumes?limit=1');
    expect(first.body.volumes_links[0].href).toContain('marker=');
    const sorted = await request('GET', '/volume/v3/volumes/detail?sort=name:asc');
    expect(sorted.body.volumes.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  });

  it('are renamed through either name of the field', async () => {
    const request = clientOf(await cloudUnderTest());
    const { id } = (await request('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'a' } })).body.volume;
    const rename = async (volume: object) => (await request('PUT', `/volume/v3/volumes/${id}`, { volume })).body.volume;
    expect(await rename({ name: 'b' })).toMatchObject({ name: 'b', description: null });
    expect(await rename({ display_name: 'c', display_description: 'd' })).toMatchObject({
      name: 'c',
      description: 'd',
    });
    expect(await rename({ metadata: { k: 'v' } })).toMatchObject({ name: 'c', description: 'd', metadata: { k: 'v' } });
  });

  it('are extended, change their flags and become images', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { id } = (await request('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'disk' } })).body.volume;
    const act = (body: object) => request('POST', `/volume/v3/volumes/${id}/action`, body);
    expect((await act({ 'os-extend': { new_size: 5 } })).status).toBe(202);
    expect((await act({ 'os-extend': { new_size: 4 } })).status).toBe(400);
    expect((await act({ 'os-set_bootable': { bootable: 'True' } })).status).toBe(200);
    expect((await act({ 'os-dance': {} })).status).toBe(400);
    expect((await request('GET', `/volume/v3/volumes/${id}`)).body.volume).toMatchObject({ size: 5, bootable: 'true' });
    const uploaded = await act({ 'os-volume_upload_image': { image_name: 'from-disk' } });
    const { image_id: image } = uploaded.body['os-volume_upload_image'];
    expect((await request('GET', `/image/v2/images/${image}`)).body).toMatchObject({
      name: 'from-disk',
      status: 'active',
    });
  });

  it('are attached by clients step by step', async () => {
    const client = clientOf(await cloudUnderTest());
    const request = (method: string, path: string, body?: unknown) =>
      client(method, path, body, { 'OpenStack-API-Version': 'volume 3.44' });
    const { id } = (await request('POST', '/volume/v3/volumes', { volume: { size: 1 } })).body.volume;
    const status = async () => (await request('GET', `/volume/v3/volumes/${id}`)).body.volume.status;
    const instance = '11111111-2222-4333-8444-555555555555';
    const created = await request('POST', '/volume/v3/attachments', {
      attachment: { volume_uuid: id, instance_uuid: instance },
    });
    const path = `/volume/v3/attachments/${created.body.attachment.id}`;
    const seen = [await status()];
    await request('PUT', path, { attachment: { connector: { host: 'elsewhere', mountpoint: '/dev/vdx' } } });
    seen.push(await status());
    expect((await request('POST', `${path}/action`, { 'os-complete': {} })).status).toBe(204);
    seen.push(await status());
    expect((await request('DELETE', path)).body).toEqual({ attachments: [] });
    seen.push(await status());
    expect(seen).toEqual(['reserved', 'attaching', 'in-use', 'available']);
  });
});

describe('other resources of the volume service', () => {
  it('include snapshots, which prevent the deletion of their volume while they exist', async () => {
    const request = clientOf(await cloudUnderTest());
    const { id } = (await request('POST', '/volume/v3/volumes', { volume: { size: 1 } })).body.volume;
    const created = await request('POST', '/volume/v3/snapshots', { snapshot: { volume_id: id, name: 'copy' } });
    expect(created).toMatchObject({ status: 202, body: { snapshot: { status: 'creating', size: 1 } } });
    expect((await request('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(400);
    const copied = await request('POST', '/volume/v3/volumes', { volume: { snapshot_id: created.body.snapshot.id } });
    expect(copied.body.volume).toMatchObject({ size: 1, snapshot_id: created.body.snapshot.id });
    expect((await request('DELETE', `/volume/v3/snapshots/${created.body.snapshot.id}`)).status).toBe(202);
    expect((await request('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(202);
  });

  it('include private types, which are hidden from members', async () => {
    const cloud = await cloudUnderTest();
    const admin = clientOf(cloud);
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    const expected = { name: 'fast', 'os-volume-type-access:is_public': false, extra_specs: { tier: '1' } };
    const { id } = (await admin('POST', '/volume/v3/types', { volume_type: expected })).body.volume_type;
    expect((await admin('GET', '/volume/v3/types?is_public=None')).body.volume_types).toHaveLength(3);
    expect((await member('GET', '/volume/v3/types')).body.volume_types).toHaveLength(2);
    expect((await member('GET', `/volume/v3/types/${id}`)).status).toBe(404);
    expect((await member('POST', '/volume/v3/types', { volume_type: expected })).status).toBe(403);
    expect((await admin('DELETE', `/volume/v3/types/${id}`)).status).toBe(202);
  });

  it('include limits and quotas, which show the usage of a project', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    await request('POST', '/volume/v3/volumes', { volume: { size: 3 } });
    const { absolute } = (await request('GET', '/volume/v3/limits')).body.limits;
    expect(absolute).toMatchObject({ totalVolumesUsed: 1, totalGigabytesUsed: 3, maxTotalVolumes: 10 });
    const project = (await request('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    await request('PUT', `/volume/v3/os-quota-sets/${project}`, { quota_set: { volumes: 5 } });
    const quota = await request('GET', `/volume/v3/os-quota-sets/${project}?usage=True`);
    expect(quota.body.quota_set.volumes).toMatchObject({ limit: 5, in_use: 1 });
  });
});
