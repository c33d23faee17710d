import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

type SendRequest = ReturnType<typeof clientOf>;
const at = (path: string) => `/image/v2/${path}`;
const names = (body: any) => body.images.map(({ name }: { name: string }) => name);

async function named(request: SendRequest, ...all: string[]) {
  const created = [];
  for (const name of all) created.push((await request('POST', at('images'), { name })).body);
  return created;
}

describe('errors of the image service', () => {
  it.each([
    ['DELETE', 'images', 'GET, POST'],
    ['PUT', `images/${IMAGE}`, 'GET, PATCH, DELETE'],
    ['POST', 'schemas/image', 'GET'],
  ])('return 405 for %s %s, with the allowed methods', async (method, path, allow) => {
    const cloud = await cloudUnderTest();
    const rejected = await clientOf(cloud)(method, at(path));
    expect(rejected.status).toBe(405);
    expect(rejected.headers.get('allow')?.split(', ').sort()).toEqual(allow.split(', ').sort());
    expect((await clientOf(cloud, '')(method, at(path))).status).toBe(401);
  });

  it.each([
    [undefined, 'text/html'],
    ['*/*', 'text/html'],
    ['application/json, */*', 'text/html'],
    ['application/json', 'application/json'],
    ['application/json;q=1, text/html;q=0.5', 'application/json'],
    ['image/png', 'text/plain'],
  ])('for Accept: %s are %s', async (accept, type) => {
    const cloud = await cloudUnderTest();
    const headers = { 'X-Auth-Token': cloud.token(), ...(accept && { Accept: accept }) };
    for (const [path, status] of [
      [`images/${'0'.repeat(8)}-0000-0000-0000-000000000000`, 404],
      ['images?sort=colour', 400],
      ['nothing', 404],
    ] as const) {
      const response = await fetch(`${cloud.url}${at(path)}`, { headers });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain(type);
      const text = await response.text();
      if (type === 'text/html') expect(text).toContain(`<title>${status} `);
      if (type === 'application/json')
        expect(JSON.parse(text)).toEqual({
          message: expect.stringMatching(/<br \/><br \/>\n\n\n$/),
          code: expect.stringMatching(/^\d{3} /),
          title: expect.any(String),
        });
    }
  });
});

describe('schemas', () => {
  it('mark the attributes of an image that clients may set', async () => {
    const { properties } = (await clientOf(await cloudUnderTest())('GET', at('schemas/image'))).body;
    expect(properties.status.readOnly).toBe(true);
    expect(properties.disk_format.enum).toContain('qcow2');
    expect(properties).toHaveProperty('os_hidden');
  });

  it('reject an image that violates them, and store no part of it', async () => {
    const request = clientOf(await cloudUnderTest());
    for (const wrong of [{ disk_format: 'nonsense' }, { size: 5 }, { min_ram: 'much' }, { colour: 5 }])
      expect((await request('POST', at('images'), { name: 'wrong', ...wrong })).status).toBeGreaterThanOrEqual(400);
    expect(names((await request('GET', at('images?name=wrong'))).body)).toEqual([]);
  });
});

describe('lists of images', () => {
  it.each([
    ['created_at=gte:2001-01-01T00:00:00Z', 2],
    ['created_at=lt:2001-01-01T00:00:00Z', 0],
    ['updated_at=gt:2001-01-01T00:00:00Z', 2],
    ['updated_at=lte:2001-01-01T00:00:00Z', 0],
    ['created_at=neq:2001-01-01T00:00:00Z', 2],
    ['created_at=eq:2001-01-01T00:00:00Z', 0],
    ['name=in:one,cirros', 2],
    ['name=in:"one"', 1],
    [`id=in:${IMAGE}`, 1],
    ['status=in:queued,killed', 1],
    ['status=in:active', 1],
    ['disk_format=in:qcow2,raw', 1],
    ['size_min=1', 1],
    ['hw_colour=red', 0],
    ['protected=false', 2],
    ['visibility=all', 2],
  ])('with %s return %i', async (query, count) => {
    const request = clientOf(await cloudUnderTest());
    await named(request, 'one');
    expect((await request('GET', at(`images?${query}`))).body.images).toHaveLength(count);
  });

  it.each([
    'created_at=about:2001-01-01T00:00:00Z',
    'created_at=gt:yesterday',
    'sort=colour:asc',
    'sort_key=name&sort_dir=up',
    'sort=name&sort_key=name',
    'sort_key=name&sort_dir=asc&sort_dir=desc',
    'limit=-1',
    'limit=many',
    'visibility=loud',
    'member_status=maybe',
    'changes-since=2001-01-01',
    'marker=unknown',
  ])('reject %s', async (query) => {
    expect((await clientOf(await cloudUnderTest())('GET', at(`images?${query}`))).status).toBe(400);
  });

  it('keep the order of creation within one second', async () => {
    const request = clientOf(await cloudUnderTest({ clock: 'frozen' }));
    await named(request, 'a', 'b', 'c');
    expect(names((await request('GET', at('images?limit=3'))).body)).toEqual(['c', 'b', 'a']);
    expect(names((await request('GET', at('images?sort=created_at:asc'))).body)).toEqual(['cirros', 'a', 'b', 'c']);
    expect(names((await request('GET', at('images?sort_key=status&sort_key=name&sort_dir=asc'))).body)[0]).toBe(
      'cirros',
    );
  });

  it('show pending memberships if they are requested', async () => {
    const cloud = await cloudUnderTest();
    const owner = clientOf(cloud, cloud.token('ada', 'lab'));
    const other = clientOf(cloud, cloud.token('bob', 'works'));
    const [image] = await named(owner, 'offered');
    const works = (await clientOf(cloud)('GET', '/identity/v3/projects?name=works')).body.projects[0].id;
    await owner('POST', at(`images/${image.id}/members`), { member: works });
    expect(names((await other('GET', at('images?visibility=shared'))).body)).toEqual([]);
    expect(names((await other('GET', at('images?visibility=shared&member_status=pending'))).body)).toEqual(['offered']);
  });
});

describe('images', () => {
  it('of the preset have an owner, a size, a checksum and content', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const image = (await request('GET', at(`images/${IMAGE}`))).body;
    const project = (await request('GET', '/identity/v3/projects?name=admin')).body.projects[0].id;
    expect(image).toMatchObject({ owner: project, size: 2048, virtual_size: 2 ** 20, os_hash_algo: 'sha512' });
    const headers = { 'X-Auth-Token': cloud.token() };
    const full = await fetch(`${cloud.url}${at(`images/${IMAGE}/file`)}`, { headers });
    const bytes = Buffer.from(await full.arrayBuffer());
    expect(createHash('md5').update(bytes).digest('hex')).toBe(image.checksum);
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('QFI\xfb');
    const part = await fetch(`${cloud.url}${at(`images/${IMAGE}/file`)}`, {
      headers: { ...headers, Range: 'bytes=0-3' },
    });
    expect(part.status).toBe(206);
    expect(await part.arrayBuffer()).toHaveProperty('byteLength', 4);
  });

  it('are patched in both formats, and in no other', async () => {
    const request = clientOf(await cloudUnderTest());
    const [image] = await named(request, 'mine');
    const patch = (body: object[], type: string) =>
      request('PATCH', at(`images/${image.id}`), body, { 'Content-Type': type });
    const older = 'application/openstack-images-v2.0-json-patch';
    const newer = 'application/openstack-images-v2.1-json-patch';
    const changed = await patch(
      [
        { replace: '/name', value: 'yours' },
        { add: '/colour', value: 'red' },
      ],
      older,
    );
    expect(changed.body).toMatchObject({ name: 'yours', colour: 'red' });
    expect((await patch([{ remove: '/colour' }], older)).body).not.toHaveProperty('colour');
    expect((await patch([{ op: 'replace', path: '/tags', value: ['a'] }], newer)).body.tags).toEqual(['a']);
    expect((await patch([{ op: 'replace', path: '/size', value: 5 }], newer)).status).toBe(403);
    expect((await patch([{ op: 'replace', path: '/colour', value: 'x' }], newer)).status).toBe(409);
    expect((await patch([{ op: 'replace', path: '/min_ram', value: 'x' }], newer)).status).toBe(400);
    const rejected = await patch([], 'application/json');
    expect(rejected.status).toBe(415);
    expect(rejected.headers.get('accept-patch')).toContain(newer);
  });

  it('are staged and imported, and show their import method', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { id } = (await request('POST', at('images'), { name: 'i', disk_format: 'raw', container_format: 'bare' }))
      .body;
    const direct = { method: { name: 'glance-direct' } };
    expect((await request('POST', at(`images/${id}/import`), direct)).status).toBe(409);
    const headers = { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/octet-stream' };
    const staged = await fetch(`${cloud.url}${at(`images/${id}/stage`)}`, { method: 'PUT', headers, body: 'bytes' });
    expect(staged.status).toBe(204);
    expect((await request('GET', at(`images/${id}`))).body.status).toBe('uploading');
    expect((await request('POST', at(`images/${id}/import`), direct)).status).toBe(202);
    expect((await request('GET', at(`images/${id}`))).body).toMatchObject({ status: 'active', size: 5 });
    expect((await request('GET', at(`images/${id}/tasks`))).body.tasks).toMatchObject([
      { type: 'api_image_import', status: 'success' },
    ]);
  });

  it.each([
    'info/import',
    'info/stores',
    'info/stores/detail',
    'info/usage',
    'cache',
    'tasks',
    'metadefs/namespaces',
    'metadefs/resource_types',
  ])('include %s', async (path) => {
    expect((await clientOf(await cloudUnderTest())('GET', at(path))).status).toBe(200);
  });
});
