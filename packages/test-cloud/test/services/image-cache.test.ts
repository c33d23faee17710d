import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

const at = (path: string) => `/image/v2/${path}`;
const FORMATS = { disk_format: 'raw', container_format: 'bare' };

async function images() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const token = cloud.token('demo', 'demo');
  const member = clientOf(cloud, token);
  const send = (method: string, id: string, headers: Record<string, string>, body?: string, as = token) =>
    fetch(`${cloud.url}${at(`images/${id}`)}`, { method, headers: { 'X-Auth-Token': as, ...headers }, body });
  const octets = { 'Content-Type': 'application/octet-stream' };
  const upload = (id: string, path = 'file') => send('PUT', `${id}/${path}`, octets, 'bytes');
  const create = async () => (await member('POST', at('images'), { name: 'i', ...FORMATS })).body.id as string;
  return { cloud, request, member, send, upload, create };
}

describe('the cache of images', () => {
  it('contains queued images until they are removed', async () => {
    const { request, upload, create } = await images();
    const id = await create();
    await upload(id);
    const cached = async () => (await request('GET', at('cache'))).body.cached_images.map((one: any) => one.image_id);
    for (const image of [id, IMAGE, id]) expect((await request('PUT', at(`cache/${image}`))).status).toBe(202);
    expect(await cached()).toEqual([id, IMAGE]);
    expect((await request('GET', at(`cache/nodes/${id}`))).body).toHaveLength(1);
    expect((await request('DELETE', at('cache'), undefined, { 'x-image-cache-clear-target': 'queue' })).status).toBe(
      204,
    );
    expect(await cached()).toEqual([id, IMAGE]);
    await request('DELETE', at(`images/${id}`));
    expect(await cached()).toEqual([IMAGE]);
    expect((await request('POST', at('cache/prune'))).body).toEqual({ total_files_pruned: 0, total_bytes_pruned: 0 });
    expect(await request('POST', at('cache/clean'))).toMatchObject({ status: 200, body: '' });
    expect((await request('DELETE', at(`cache/${IMAGE}`))).status).toBe(204);
    expect((await request('GET', at(`cache/nodes/${IMAGE}`))).body).toEqual([]);
    await request('PUT', at(`cache/${IMAGE}`));
    expect((await request('DELETE', at('cache'))).status).toBe(204);
    expect(await cached()).toEqual([]);
  });
});

describe('the content of an image', () => {
  it('is in a store, which administrators see', async () => {
    const { request, upload, create } = await images();
    const id = await create();
    expect((await request('GET', at(`images/${id}/locations`))).body).toEqual([]);
    await upload(id);
    const [{ id: store }] = (await request('GET', at('info/stores'))).body.stores;
    expect((await request('GET', at(`images/${id}/locations`))).body).toMatchObject([{ metadata: { store } }]);
  });

  it('is downloaded by administrators only while the image is deactivated', async () => {
    const { cloud, member, send, upload, create } = await images();
    const id = await create();
    await upload(id);
    for (const action of ['deactivate', 'deactivate'])
      expect((await member('POST', at(`images/${id}/actions/${action}`))).status).toBe(204);
    const rejected = await member('GET', at(`images/${id}/file`));
    expect([rejected.status, rejected.body]).toEqual([403, expect.stringContaining('has been deactivated.')]);
    const content = await send('GET', `${id}/file`, {}, undefined, cloud.token());
    expect([content.status, await content.text()]).toEqual([200, 'bytes']);
    await member('POST', at(`images/${id}/actions/reactivate`));
    expect((await send('GET', `${id}/file`, {})).status).toBe(200);
  });

  it.each([
    ['bytes=0-1', 206, 'by'],
    ['bytes=3-', 206, 'es'],
    ['bytes=-2', 206, 'es'],
    ['bytes=-9', 206, 'bytes'],
    ['bytes=2-99', 206, 'tes'],
    ['bytes=5-', 416, ''],
    ['octets', 416, ''],
  ])('is returned for the range %s with %i', async (range, status, expected) => {
    const { send, upload, create } = await images();
    const id = await create();
    await upload(id);
    const response = await send('GET', `${id}/file`, { Range: range });
    expect([response.status, await response.text()]).toEqual([status, expected]);
  });

  it('is staged once, and must be octets of a known format in a known store', async () => {
    const { member, send, upload, create } = await images();
    const id = await create();
    expect((await upload(id, 'stage')).status).toBe(204);
    expect((await member('GET', at(`images/${id}`))).body).toMatchObject({ status: 'uploading', size: 5 });
    expect((await upload(id, 'stage')).status).toBe(409);
    expect((await upload(id)).status).toBe(409);
    expect((await member('DELETE', at(`images/${id}`))).status).toBe(204);
    const other = { 'Content-Type': 'application/octet-stream', 'X-Image-Meta-Store': 'other' };
    expect((await send('PUT', `${await create()}/file`, other, 'bytes')).status).toBe(400);
    const unknown = (await member('POST', at('images'), { name: 'i' })).body.id;
    const rejected = await upload(unknown);
    expect([rejected.status, await rejected.text()]).toEqual([
      400,
      expect.stringContaining('Properties disk_format, container_format must be set prior to saving data.'),
    ]);
  });
});
