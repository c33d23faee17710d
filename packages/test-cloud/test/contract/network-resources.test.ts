import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { asMember, facts, make, type NetworkFact, SAMPLES } from './network-samples.js';
import { operationsOf, readFacts } from './operation-facts.js';
import { describeResources, type SendRequest } from './resource-contract.js';

describeResources('network', SAMPLES);

/** Returns the resources whose facts contain the given property. */
const factsWith = (property: 'administrator' | 'filters' | 'restricted') =>
  Object.entries(facts).filter(([, fact]) => fact[property]);

it.each(factsWith('administrator'))('shows a member a %s without the fields of administrators', async (one, fact) => {
  const request = await asMember();
  const created = await request('POST', fact.path, { [one]: await SAMPLES[one]?.create?.(request) });
  const expected = fact.response?.show?.filter((key) => !fact.administrator?.includes(key)).sort();
  expect(Object.keys(created.body[one]).sort()).toEqual(expected);
  const shown = await request('GET', `${fact.path}/${created.body[one].id}`);
  expect(Object.keys(shown.body[one]).sort()).toEqual(expected);
});

it.each(factsWith('restricted'))('rejects fields of a %s that only administrators set', async (one, fact) => {
  const request = await asMember();
  const sample = (await SAMPLES[one]?.create?.(request)) ?? {};
  const { id } = await make(request, fact.path.replace('/v2.0/', ''), one, sample);
  const accepted: unknown[] = [];
  for (const [key, value] of Object.entries(fact.restricted ?? {})) {
    const fresh = (await SAMPLES[one]?.create?.(request)) ?? {};
    const { status, body } = await request('POST', fact.path, { [one]: { ...fresh, [key]: value } });
    if (status !== 403 || body.NeutronError.type !== 'PolicyNotAuthorized') accepted.push(['create', key, status]);
    if (fact.request[key]?.in === 'create') continue;
    const changed = await request('PUT', `${fact.path}/${id}`, { [one]: { [key]: value } });
    if (changed.status !== 403) accepted.push(['change', key, changed.status]);
  }
  expect(accepted).toEqual([]);
});

/** Returns a valid value for a filter, and whether other strings cannot be converted to the filter's type. */
function filterValue({ type = 'string', format }: Partial<NetworkFact['request'][string]>) {
  const types = [type].flat();
  if (format === 'protocol') return { value: 'tcp', isConverted: true };
  const isConverted = !types.includes('string');
  if (types.includes('integer')) return { value: '4', isConverted };
  return types.includes('boolean') && isConverted ? { value: 'true', isConverted } : { value: 'x', isConverted: false };
}

it.each(factsWith('filters'))(
  'filters and sorts the list of each %s by the fields of the original',
  async (one, fact) => {
    const cloud = await cloudUnderTest();
    const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
    const parameters = (await SAMPLES[one]?.parameters?.(request)) ?? {};
    const path = fact.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(parameters[key]));
    const { response, filters = [], sortKeys = [] } = fact;
    const wrong: unknown[] = [];
    for (const key of new Set([...(response?.show ?? []), ...Object.keys(fact.request), ...filters, ...sortKeys])) {
      const { value, isConverted } = filterValue(fact.request[key] ?? {});
      const filter = await request('GET', `${path}?${key}=${value}`);
      if (isConverted && (await request('GET', `${path}?${key}=x`)).status !== 400) wrong.push(['value', key]);
      const sort = await request('GET', `${path}?sort_key=${key}&sort_dir=asc`);
      if (filter.status !== (filters.includes(key) ? 200 : 400)) wrong.push(['filter', key, filter.status]);
      if (sort.status !== (sortKeys.includes(key) ? 200 : 400)) wrong.push(['sort', key, sort.status]);
    }
    expect(wrong).toEqual([]);
  },
);

const EXTENSIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  readFacts('network').extensions;

/** Fields that only some resources have, or that are below a field, and that other tests cover. */
const CONDITIONAL = ['ports.trunk_details', 'service_profiles.id', 'network_ip_availabilities.ip_version'];

/** Collections that are not in the facts, because other tests cover their fields or their lists are empty. */
const COVERED_ELSEWHERE = ['auto_allocated_topologies', 'next_providers', 'service_providers'];

/** Returns the fields of a collection in the facts; undefined if the facts do not contain the collection. */
function fieldsOf(many: string): readonly string[] | undefined {
  const fact = Object.values(facts).find((one) => one.many === many);
  if (!fact) return readFacts('network').lists[many]?.items;
  return [...(fact.response?.show ?? []), ...Object.keys(fact.request), ...(fact.filters ?? [])];
}

/** The extensions that add fields; others only change the behavior of the service. */
const withFields = Object.entries(EXTENSIONS).filter(([, collections]) => Object.keys(collections).length > 0);

describe('the extensions', () => {
  it('are those of the facts', async () => {
    const listed = await clientOf(await cloudUnderTest())('GET', '/network/v2.0/extensions');
    const aliases = listed.body.extensions.map(({ alias }: { readonly alias: string }) => alias);
    expect(aliases.sort()).toEqual(Object.keys(EXTENSIONS).sort());
  });

  it.each(withFields)('have their fields: %s', (_, collections) => {
    for (const [many, keys] of Object.entries(collections)) {
      const fields = fieldsOf(many);
      if (!fields) expect(COVERED_ELSEWHERE).toContain(many);
      else expect(keys.filter((key) => !fields.includes(key) && !CONDITIONAL.includes(`${many}.${key}`))).toEqual([]);
    }
  });

  it('have no facts about the collections that other tests cover', () => {
    expect(COVERED_ELSEWHERE.filter(fieldsOf)).toEqual([]);
  });
});

const taggable = Object.entries(facts).filter(([, fact]) =>
  operationsOf('network').some(({ path }) => path.startsWith(`${fact.path}/`) && path.endsWith('/tags')),
);

describe.each(taggable)('the tags of a %s', (one, fact) => {
  it('have the statuses and bodies of the original', async () => {
    const cloud = await cloudUnderTest();
    const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
    const sample = (await SAMPLES[one]?.create?.(request)) ?? {};
    const { id } = await make(request, fact.path.replace('/v2.0/', ''), one, sample);
    const path = `${fact.path}/${id}/tags`;
    const send = async (method: string, suffix: string, body?: object) => {
      const response = await request(method, `${path}${suffix}`, body);
      return [response.status, response.body];
    };
    expect(await send('PUT', '', { tags: ['a', 'b'] })).toEqual([200, { tags: ['a', 'b'] }]);
    expect(await send('POST', '', { tags: ['b', 'c'] })).toEqual([200, { tags: ['b', 'c'] }]);
    expect(await send('PUT', '/d')).toEqual([201, '']);
    expect(await send('GET', '/d')).toEqual([204, '']);
    expect(await send('DELETE', '/d')).toEqual([204, '']);
    expect((await send('GET', '/d'))[0]).toBe(404);
    expect((await send('DELETE', '/d'))[0]).toBe(404);
    expect(await send('GET', '')).toEqual([200, { tags: ['a', 'b', 'c'] }]);
    for (const tags of [undefined, 'a', [7], ['x'.repeat(256)], ['a', 'a'], ['']])
      expect([tags, (await send('PUT', '', { tags }))[0]]).toEqual([tags, tags?.[0] === '' ? 200 : 400]);
    expect(await send('DELETE', '')).toEqual([204, '']);
    expect(await send('GET', '')).toEqual([200, { tags: [] }]);
  });
});
