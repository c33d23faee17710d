import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('reads of flavors', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest({
      router: { maxVersion: '2.104', maxLimit: 4 },
      preset: {
        flavors: [
          { id: 'a', name: 'tiny', vcpus: 1, memoryMb: 512, diskGb: 30 },
          { id: 'b', name: 'small', vcpus: 4, memoryMb: 1024, diskGb: 20 },
          { id: 'c', name: 'big', vcpus: 2, memoryMb: 2048, diskGb: 10 },
          { id: 'd', name: 'hidden', vcpus: 1, memoryMb: 1, diskGb: 1, isPublic: false },
          { id: 'e', name: 'ours', vcpus: 8, memoryMb: 4096, diskGb: 0, isPublic: false, projects: ['p1'] },
          { id: 'f', name: 'old', vcpus: 1, memoryMb: 1, diskGb: 1, disabled: true },
        ],
      },
    });
  });
  afterAll(() => api.close());

  const list = async (query: string, token = 'ada:p1', version = '2.1') => {
    const { status, body } = await api.as(token, version).get(`/flavors${query}`);
    return status === 200 ? body.flavors.map((f: any) => f.id).join('') : status;
  };

  it.each([
    ['ada:p1', '', 'abce'],
    ['bob:p2', '', 'abc'],
    ['ada:p1', '?is_public=None', 'abce'],
    ['ada:p1', '?is_public=garbage', 'abce'],
    ['admin:p2', '', 'abcf'],
    ['admin:p2', '?is_public=true', 'abcf'],
    ['admin:p2', '?is_public=False', 'de'],
    ['admin:p2', '?is_public=None&limit=9', 'abcd'],
    ['admin:p2', '?is_public=none&marker=d', 'ef'],
    ['admin:p2', '?is_public=maybe', 400],
  ])('return to %s for "%s": %s', async (token, query, expected) => {
    expect(await list(query, token)).toBe(expected);
    expect(await list(`/detail${query}`, token)).toBe(expected);
  });

  it.each([
    ['?minRam=1024', 'bce'],
    ['?minDisk=20', 'ab'],
    ['?minRam=600&minDisk=20', 'b'],
    ['?minRam=0', 'abce'],
    ['?minRam=much', 400],
    ['?minDisk=1.5', 400],
    ['?sort_key=memory_mb&sort_dir=desc', 'ecba'],
    ['?sort_key=vcpus', 'acbe'],
    ['?sort_key=name', 'ceba'],
    ['?sort_key=root_gb', 'ecba'],
    ['?sort_dir=desc', 'ecba'],
    ['?sort_key=colour', 400],
    ['?sort_dir=up', 400],
    ['?limit=2', 'ab'],
    ['?limit=2&marker=b', 'ce'],
    ['?marker=e', ''],
    ['?marker=nothing', 400],
    ['?limit=0', ''],
    ['?limit=-1', 400],
    ['?limit=many', 400],
    ['?sort_key=vcpus&limit=2&marker=c', 'be'],
  ])('return for "%s": %s', async (query, expected) => {
    expect(await list(query)).toBe(expected);
  });

  it('link to the next page while pages are full, with at most the configured limit', async () => {
    const ada = api.as('ada:p1');
    const first = (await ada.get('/flavors?sort_key=name&limit=3')).body;
    expect(first.flavors_links).toEqual([
      { rel: 'next', href: `${api.url}/v2.1/flavors?limit=3&marker=b&sort_key=name` },
    ]);
    const second = await fetch(first.flavors_links[0].href, { headers: { 'X-Auth-Token': 'ada:p1' } });
    const { flavors, flavors_links } = (await second.json()) as any;
    expect(flavors.map((f: any) => f.id)).toEqual(['a']);
    expect(flavors_links).toBeUndefined();
    expect((await ada.get('/flavors?limit=99')).body.flavors_links).toHaveLength(1);
    expect((await ada.get('/flavors?limit=0')).body).toEqual({ flavors: [] });
  });

  it.each([
    ['2.101', '?name=nothing', 400],
    ['2.74', '?name=nothing', 'abce'],
    ['2.102', '?name=nothing', ''],
    ['2.102', '?name=^.i', 'ac'],
    ['2.102', '?name=S', ''],
    ['2.102', '?name=(', 400],
    ['2.102', '?name=', 'abce'],
    ['2.74', '?colour=red', 'abce'],
    ['2.75', '?colour=red', 400],
    ['2.101', '?sort_key=rxtx_factor', 'abce'],
    ['2.102', '?sort_key=rxtx_factor', 400],
    ['2.102', '?sort_key=disabled', 'abce'],
  ])('return at %s for "%s": %s', async (version, query, expected) => {
    expect(await list(query, 'ada:p1', version)).toBe(expected);
  });

  it('handle a hostile pattern without delay', async () => {
    expect(await list(`?name=${encodeURIComponent('(a+)+$'.repeat(20))}`, 'ada:p1', '2.102')).toBe('');
  });

  it.each([
    ['ada:p1', 'd', 404],
    ['ada:p1', 'e', 200],
    ['bob:p2', 'e', 404],
    ['admin:p2', 'd', 200],
    ['ada:p1', 'nowhere', 404],
  ])('return to %s for the flavor %s: %i', async (token, id, status) => {
    expect((await api.as(token).get(`/flavors/${id}`)).status).toBe(status);
  });

  it('of one flavor accept no parameters since 2.102', async () => {
    expect((await api.as('ada:p1', '2.101').get('/flavors/a?x=1')).status).toBe(200);
    expect((await api.as('ada:p1', '2.102').get('/flavors/a?x=1')).status).toBe(400);
  });
});
