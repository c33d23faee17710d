import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { volumes } from './volume-client.js';

it('a retype changes whether a volume can be shared, and checks the quota of the new type', async () => {
  const { request, volume } = await volumes();
  const special = { name: 'special', extra_specs: { multiattach: '<is> True' } };
  expect((await request('POST', 'types', { volume_type: special })).status).toBe(200);
  const { id, volume_type } = await volume();
  const path = `volumes/${id}`;
  const retype = (new_type: string) => request('POST', `${path}/action`, { 'os-retype': { new_type } });
  const shown = async () => (await request('GET', path)).body.volume;
  const project = (await shown())['os-vol-tenant-attr:tenant_id'];
  const limit = (volumes_special: number) =>
    request('PUT', `os-quota-sets/${project}`, { quota_set: { volumes_special } });
  await limit(0);
  expect((await retype('special')).status).toBe(413);
  await limit(-1);
  expect((await retype('special')).status).toBe(202);
  expect(await shown()).toMatchObject({ volume_type: 'special', multiattach: true });
  const attached = { instance_uuid: randomUUID(), mountpoint: '/dev/vdb' };
  expect((await request('POST', `${path}/action`, { 'os-attach': attached })).status).toBe(202);
  expect((await shown()).status).toBe('in-use');
  expect(await retype(volume_type)).toMatchObject({
    status: 400,
    body: { badRequest: { message: expect.stringContaining('only allowed on available volumes') } },
  });
  expect((await request('POST', `${path}/action`, { 'os-detach': {} })).status).toBe(202);
  expect((await retype(volume_type)).status).toBe(202);
  expect(await shown()).toMatchObject({ volume_type, multiattach: false });
});
