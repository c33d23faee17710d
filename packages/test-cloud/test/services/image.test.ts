import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

const bytes = { 'Content-Type': 'application/octet-stream' };
const patchType = { 'Content-Type': 'application/openstack-images-v2.1-json-patch' };

describe('images', () => {
  it('are created, filled, shown, changed and deleted', async () => {
    const cloud = await cloudUnderTest();
    const token = cloud.token('demo', 'demo');
    const request = clientOf(cloud, token);
    const expected = {
      name: 'mine',
      disk_format: 'raw',
      container_format: 'bare',
      min_ram: 64,
      hw_disk_bus: 'virtio',
      tags: ['a'],
    };
    const { status, body } = await request('POST', '/image/v2/images', expected);
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...expected, status: 'queued', visibility: 'shared', size: null });
    const path = `/image/v2/images/${body.id}`;
    const content = Buffer.from('not much of an image');
    const headers = { 'X-Auth-Token': token, ...bytes };
    expect((await fetch(`${cloud.url}${path}/file`, { method: 'PUT', headers, body: content })).status).toBe(204);
    const checksum = createHash('md5').update(content).digest('hex');
    expect((await request('GET', path)).body).toMatchObject({ status: 'active', size: content.length, checksum });
    const download = await fetch(`${cloud.url}${path}/file`, { headers });
    expect(Buffer.from(await download.arrayBuffer())).toEqual(content);
    const patch = [
      { op: 'replace', path: '/name', value: 'yours' },
      { op: 'add', path: '/os_distro', value: 'tiny' },
      { op: 'remove', path: '/hw_disk_bus' },
    ];
    const changed = (await request('PATCH', path, patch, patchType)).body;
    expect(changed).toMatchObject({ name: 'yours', os_distro: 'tiny' });
    expect(changed).not.toHaveProperty('hw_disk_bus');
    expect((await request('PUT', `${path}/tags/b`)).status).toBe(204);
    expect((await request('GET', '/image/v2/images?tag=b')).body.images).toHaveLength(1);
    expect((await request('DELETE', `${path}/tags/c`)).status).toBe(404);
    expect((await request('DELETE', path)).status).toBe(204);
    expect((await request('GET', path)).status).toBe(404);
  });

  it('are listed in pages that link to each other', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    for (const name of ['a', 'b', 'c', 'd']) await request('POST', '/image/v2/images', { name });
    const names: string[] = [];
    let next: string | undefined = '/v2/images?limit=2&sort=name:asc';
    while (next) {
      const { body }: { body: any } = await request('GET', `/image${next}`);
      names.push(...body.images.map(({ name }: { name: string }) => name));
      next = body.next;
    }
    expect(names).toEqual(['a', 'b', 'c', 'cirros', 'd']);
  });

  it('are shared with projects that accept them', async () => {
    const cloud = await cloudUnderTest();
    const owner = clientOf(cloud, cloud.token('ada', 'lab'));
    const other = clientOf(cloud, cloud.token('bob', 'works'));
    const { id } = (await owner('POST', '/image/v2/images', { name: 'mine' })).body;
    const members = `/image/v2/images/${id}/members`;
    expect((await other('GET', `/image/v2/images/${id}`)).status).toBe(404);
    const works = (await clientOf(cloud)('GET', '/identity/v3/projects?name=works')).body.projects[0].id;
    expect((await owner('POST', members, { member: works })).body).toMatchObject({
      member_id: works,
      status: 'pending',
    });
    expect((await other('GET', '/image/v2/images?name=mine')).body.images).toEqual([]);
    expect((await other('PUT', `${members}/${works}`, { status: 'accepted' })).body.status).toBe('accepted');
    expect((await other('GET', '/image/v2/images?name=mine')).body.images).toHaveLength(1);
    expect((await owner('DELETE', `${members}/${works}`)).status).toBe(204);
    expect((await other('GET', `/image/v2/images/${id}`)).status).toBe(404);
  });

  it.each([
    ['publishing without the right', 'POST', '/image/v2/images', { visibility: 'public' }, 403],
    ['a size that is set', 'POST', '/image/v2/images', { size: 5 }, 403],
    ['a visibility there is not', 'POST', '/image/v2/images', { visibility: 'loud' }, 400],
    ['changing what belongs to others', 'DELETE', `/image/v2/images/${IMAGE}`, undefined, 403],
    ['an id that is none', 'GET', '/image/v2/images/x', undefined, 404],
  ])('reject %s', async (_, method, path, body, status) => {
    const cloud = await cloudUnderTest();
    const json = { Accept: 'application/json' };
    const responded = await clientOf(cloud, cloud.token('demo', 'demo'))(method, path, body, json);
    expect(responded.status).toBe(status);
    expect(responded.body.code).toMatch(new RegExp(`^${status} `));
  });
});
