import { expect, it } from 'vitest';
import { clientOf, IMAGE } from '../clouds.js';
import { at, highest, volumes } from './volume-client.js';

const MULTIATTACH = { multiattach: '<is> True' };

async function withTypes() {
  const cloud = await volumes();
  const type = async (name: string, extra_specs = {}) =>
    (await cloud.request('POST', 'types', { volume_type: { name, extra_specs } })).body.volume_type.name as string;
  return { ...cloud, type };
}

it('gives a new volume the type in the properties of its image', async () => {
  const { cloud, volume, type } = await withTypes();
  const image = { name: 'i', disk_format: 'raw', container_format: 'bare', cinder_img_volume_type: await type('fast') };
  const { id } = (await clientOf(cloud)('POST', '/image/v2/images', image)).body;
  const token = cloud.token();
  const headers = { 'X-Auth-Token': token, 'Content-Type': 'application/octet-stream' };
  await fetch(`${cloud.url}/image/v2/images/${id}/file`, { method: 'PUT', headers, body: 'x' });
  expect((await volume({ imageRef: id })).volume_type).toBe('fast');
  expect((await volume({ imageRef: id, volume_type: await type('slow') })).volume_type).toBe('slow');
  expect((await volume({ imageRef: IMAGE })).volume_type).not.toBe('fast');
});

it('gives a copy the type of its source, not the default type of the project', async () => {
  const { request, volume, type } = await withTypes();
  const source = await volume({ volume_type: await type('fast') });
  const project = (await request('GET', `volumes/${source.id}`)).body.volume['os-vol-tenant-attr:tenant_id'];
  const default_type = { volume_type: await type('slow') };
  expect((await request('PUT', `default-types/${project}`, { default_type })).status).toBe(200);
  expect((await volume()).volume_type).toBe('slow');
  expect((await volume({ source_volid: source.id })).volume_type).toBe('fast');
});

it('allows several attachments after a retype to a type that allows them', async () => {
  const { request, volume, type } = await withTypes();
  const { id } = await volume();
  const retype = async (name: string) =>
    (await request('POST', `volumes/${id}/action`, { 'os-retype': { new_type: name } })).status;
  const multiattach = async () => (await request('GET', `volumes/${id}`)).body.volume.multiattach;
  expect([await retype(await type('shared', MULTIATTACH)), await multiattach()]).toEqual([202, true]);
  expect([await retype(await type('single')), await multiattach()]).toEqual([202, false]);
  await request('POST', 'attachments', { attachment: { volume_uuid: id } });
  await request('POST', `volumes/${id}/action`, { 'os-reset_status': { status: 'in-use' } });
  expect([await retype('shared'), await multiattach()]).toEqual([400, false]);
});

it('does not base the backup of an administrator on the backup of another project', async () => {
  const { cloud, request } = await volumes();
  const owner = clientOf(cloud, cloud.token('ada', 'lab'));
  const { id } = (await owner('POST', at('volumes'), { volume: { size: 1 } }, highest)).body.volume;
  const backup = { volume_id: id, incremental: true };
  expect((await owner('POST', at('backups'), { backup: { volume_id: id } }, highest)).status).toBe(202);
  expect(await request('POST', 'backups', { backup })).toMatchObject({
    status: 400,
    body: { badRequest: { message: 'Invalid backup: No backups available to do an incremental backup.' } },
  });
  expect((await owner('POST', at('backups'), { backup }, highest)).status).toBe(202);
});

it('filters backups by their project in versions that do not show it', async () => {
  const { request, raw, volume } = await volumes();
  const { id } = await volume();
  await request('POST', 'backups', { backup: { volume_id: id } });
  const { 'os-vol-tenant-attr:tenant_id': project } = (await request('GET', `volumes/${id}`)).body.volume;
  const count = async (projectId: string) =>
    (await raw('GET', at(`backups?project_id=${projectId}`))).body.backups.length;
  expect([await count(project), await count('other')]).toEqual([1, 0]);
});
