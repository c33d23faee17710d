import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import { idOf, SAMPLES, type SendRequest } from './volume-samples.js';

const { lists } = readFacts('volume') as {
  readonly lists: {
    readonly links: Readonly<Record<string, string>>;
    readonly filters: Readonly<Record<string, readonly string[]>>;
    /** The first minor version that rejects other filters; default: 31. */
    readonly since: Readonly<Record<string, number>>;
    readonly rejected: readonly (readonly [query: string, message: string])[];
  };
};

async function start() {
  const cloud = await cloudUnderTest();
  const at = (token?: string, minor = 71): SendRequest => {
    const raw = clientOf(cloud, token);
    const headers = { 'OpenStack-API-Version': `volume 3.${minor}` };
    return (method, path, body) => raw(method, `/volume/v3/${path}`, body, headers);
  };
  return { request: at(), memberAt: (minor: number) => at(cloud.token('demo', 'demo'), minor) };
}

describe('lists of the volume service', () => {
  it.each(Object.entries(lists.links))('of %s have the next page in %s', async (path, key) => {
    const { request } = await start();
    const one = Object.entries(SAMPLES).find(([, sample]) => sample.path === path)?.[0];
    if (one) await idOf(request, path, one);
    else await request('POST', 'qos-specs', { qos_specs: { name: 'limited' } });
    const { body } = await request('GET', `${path}?limit=1`);
    expect(Object.keys(body)).toContain(key);
    expect(body[key]).toMatchObject([{ rel: 'next', href: expect.stringContaining('marker=') }]);
  });

  it('have the filters of the original', async () => {
    const { request } = await start();
    const expected = Object.entries(lists.filters).map(([resource, filters]) => ({ resource, filters }));
    expect((await request('GET', 'resource_filters')).body).toEqual({ resource_filters: expected });
  });

  const filtered = Object.entries(SAMPLES).flatMap(([one, { path }]) => {
    const filters = lists.filters[one];
    return filters ? [[path, one, filters] as const] : [];
  });
  it.each(filtered)('%s accept only the known filters of members', async (path, one, filters) => {
    const { memberAt } = await start();
    const since = lists.since[one] ?? 31;
    const list = async (minor: number, name: string, value = 'x') =>
      (await memberAt(minor)('GET', `${path}?${name}=${value}`)).status;
    const filterValue = (name: string) => (name.endsWith('_at') ? 'gt:2001-01-01T00:00:00' : '{}');
    for (const name of filters) expect([name, await list(71, name, filterValue(name))]).toEqual([name, 200]);
    for (const name of ['unheard_of', 'user_id', 'name~'])
      expect([name, await list(since - 1, name), await list(since, name)]).toEqual([name, 200, 400]);
    expect(await list(71, 'all_tenants')).toBe(200);
  });

  it.each(lists.rejected)('reject %s', async (query, message) => {
    const { request } = await start();
    expect(await request('GET', `volumes?${query}`)).toMatchObject({ status: 400, body: { badRequest: { message } } });
  });
});
