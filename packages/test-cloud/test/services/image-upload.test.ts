import { once } from 'node:events';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const BYTES = { 'Content-Type': 'application/octet-stream' };

it('an image has the status `saving` while its data is received, and another upload is rejected', async () => {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud);
  const created = await send('POST', '/image/v2/images', { disk_format: 'raw', container_format: 'bare' });
  const path = `/image/v2/images/${created.body.id}`;
  const upload = request(`${cloud.url}${path}/file`, {
    method: 'PUT',
    headers: { ...BYTES, 'X-Auth-Token': cloud.token() },
  });
  upload.write('first half, ');
  await expect.poll(async () => (await send('GET', path)).body.status).toBe('saving');
  expect(await send('PUT', `${path}/file`, 'other', BYTES)).toMatchObject({ status: 409 });
  const responded = once(upload, 'response');
  upload.end('second half');
  expect((await responded)[0]).toMatchObject({ statusCode: 204 });
  expect((await send('GET', path)).body).toMatchObject({ status: 'active', size: 23 });
});
