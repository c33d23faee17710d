import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE, serverBody } from '../clouds.js';

describe('volumes', () => {
  it('follow what the compute service does with them', async () => {
    const cloud = await cloudUnderTest();
    const ask = clientOf(cloud);
    const { id } = (await ask('POST', '/volume/v3/volumes', { volume: { size: 2, name: 'disk' } })).body.volume;
    const volume = async () => (await ask('GET', `/volume/v3/volumes/${id}`)).body.volume;
    expect(await volume()).toMatchObject({ status: 'available', size: 2, attachments: [], bootable: 'false' });
    const server = (await ask('POST', '/compute/v2.1/servers', serverBody())).body.server.id;
    await cloud.idle();
    const path = `/compute/v2.1/servers/${server}/os-volume_attachments`;
    await ask('POST', path, { volumeAttachment: { volumeId: id } });
    await cloud.idle();
    expect(await volume()).toMatchObject({
      status: 'in-use',
      attachments: [{ server_id: server, device: '/dev/vdb' }],
    });
    expect((await ask('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(400);
    await ask('DELETE', `${path}/${id}`);
    await cloud.idle();
    expect(await volume()).toMatchObject({ status: 'available', attachments: [] });
    expect((await ask('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(202);
    expect((await ask('GET', `/volume/v3/volumes/${id}`)).status).toBe(404);
  });

  it('are found below a project id as well, and by their fields', async () => {
    const cloud = await cloudUnderTest();
    const ask = clientOf(cloud);
    const project = (await ask('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    for (const name of ['a', 'b'])
      await ask('POST', `/volume/v3/${project}/volumes`, { volume: { size: 1, name, imageRef: IMAGE } });
    const listed = await ask('GET', `/volume/v3/${project}/volumes/detail?name=a`);
    expect(listed.body.volumes).toMatchObject([
      { name: 'a', bootable: 'true', volume_image_metadata: { image_id: IMAGE } },
    ]);
    expect(listed.headers.get('openstack-api-version')).toBe('volume 3.0');
    const first = await ask('GET', '/volume/v3/volumes?limit=1');
    expect(first.body.volumes_links[0].href).toContain('marker=');
    const sorted = await ask('GET', '/volume/v3/volumes/detail?sort=name:asc');
    expect(sorted.body.volumes.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  });

  it('are renamed in both spellings that clients have', async () => {
    const ask = clientOf(await cloudUnderTest());
    const { id } = (await ask('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'a' } })).body.volume;
    const rename = async (volume: object) => (await ask('PUT', `/volume/v3/volumes/${id}`, { volume })).body.volume;
    expect(await rename({ name: 'b' })).toMatchObject({ name: 'b', description: null });
    expect(await rename({ display_name: 'c', display_description: 'd' })).toMatchObject({
      name: 'c',
      description: 'd',
    });
    expect(await rename({ metadata: { k: 'v' } })).toMatchObject({ name: 'c', description: 'd', metadata: { k: 'v' } });
  });

  it('grow, change their flags and become images', async () => {
    const cloud = await cloudUnderTest();
    const ask = clientOf(cloud);
    const { id } = (await ask('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'disk' } })).body.volume;
    const act = (body: object) => ask('POST', `/volume/v3/volumes/${id}/action`, body);
    expect((await act({ 'os-extend': { new_size: 5 } })).status).toBe(202);
    expect((await act({ 'os-extend': { new_size: 4 } })).status).toBe(400);
    expect((await act({ 'os-set_bootable': { bootable: 'True' } })).status).toBe(200);
    expect((await act({ 'os-dance': {} })).status).toBe(501);
    expect((await ask('GET', `/volume/v3/volumes/${id}`)).body.volume).toMatchObject({ size: 5, bootable: 'true' });
    const uploaded = await act({ 'os-volume_upload_image': { image_name: 'from-disk' } });
    const { image_id: image } = uploaded.body['os-volume_upload_image'];
    expect((await ask('GET', `/image/v2/images/${image}`)).body).toMatchObject({ name: 'from-disk', status: 'active' });
  });

  it('are attached step by step by whoever attaches them', async () => {
    const ask = clientOf(await cloudUnderTest());
    const { id } = (await ask('POST', '/volume/v3/volumes', { volume: { size: 1 } })).body.volume;
    const status = async () => (await ask('GET', `/volume/v3/volumes/${id}`)).body.volume.status;
    const instance = '11111111-2222-4333-8444-555555555555';
    const made = await ask('POST', '/volume/v3/attachments', {
      attachment: { volume_uuid: id, instance_uuid: instance },
    });
    const path = `/volume/v3/attachments/${made.body.attachment.id}`;
    const seen = [await status()];
    await ask('PUT', path, { attachment: { connector: { host: 'elsewhere', mountpoint: '/dev/vdx' } } });
    seen.push(await status());
    expect((await ask('POST', `${path}/action`, { 'os-complete': {} })).status).toBe(204);
    seen.push(await status());
    expect((await ask('DELETE', path)).body).toEqual({ attachments: [] });
    seen.push(await status());
    expect(seen).toEqual(['reserved', 'attaching', 'in-use', 'available']);
  });
});

describe('snapshots and types', () => {
  it('keep their volume until they are gone', async () => {
    const ask = clientOf(await cloudUnderTest());
    const { id } = (await ask('POST', '/volume/v3/volumes', { volume: { size: 1 } })).body.volume;
    const made = await ask('POST', '/volume/v3/snapshots', { snapshot: { volume_id: id, name: 'copy' } });
    expect(made).toMatchObject({ status: 202, body: { snapshot: { status: 'creating', size: 1 } } });
    expect((await ask('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(400);
    const copied = await ask('POST', '/volume/v3/volumes', { volume: { snapshot_id: made.body.snapshot.id } });
    expect(copied.body.volume).toMatchObject({ size: 1, snapshot_id: made.body.snapshot.id });
    expect((await ask('DELETE', `/volume/v3/snapshots/${made.body.snapshot.id}`)).status).toBe(202);
    expect((await ask('DELETE', `/volume/v3/volumes/${id}`)).status).toBe(202);
  });

  it('hide private types from members', async () => {
    const cloud = await cloudUnderTest();
    const admin = clientOf(cloud);
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    const wanted = { name: 'fast', 'os-volume-type-access:is_public': false, extra_specs: { tier: '1' } };
    const { id } = (await admin('POST', '/volume/v3/types', { volume_type: wanted })).body.volume_type;
    expect((await admin('GET', '/volume/v3/types?is_public=None')).body.volume_types).toHaveLength(3);
    expect((await member('GET', '/volume/v3/types')).body.volume_types).toHaveLength(2);
    expect((await member('GET', `/volume/v3/types/${id}`)).status).toBe(404);
    expect((await member('POST', '/volume/v3/types', { volume_type: wanted })).status).toBe(403);
    expect((await admin('DELETE', `/volume/v3/types/${id}`)).status).toBe(202);
  });

  it('count what a project uses', async () => {
    const cloud = await cloudUnderTest();
    const ask = clientOf(cloud);
    await ask('POST', '/volume/v3/volumes', { volume: { size: 3 } });
    const { absolute } = (await ask('GET', '/volume/v3/limits')).body.limits;
    expect(absolute).toMatchObject({ totalVolumesUsed: 1, totalGigabytesUsed: 3, maxTotalVolumes: 10 });
    const project = (await ask('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    await ask('PUT', `/volume/v3/os-quota-sets/${project}`, { quota_set: { volumes: 5 } });
    const quota = await ask('GET', `/volume/v3/os-quota-sets/${project}?usage=True`);
    expect(quota.body.quota_set.volumes).toMatchObject({ limit: 5, in_use: 1 });
  });
});
