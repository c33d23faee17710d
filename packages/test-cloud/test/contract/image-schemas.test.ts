// Compares the image service with the facts in `reference/`: schema documents, and the fields of responses.
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';
import { readFacts } from './operation-facts.js';

type Json = Readonly<Record<string, any>>;

/** The schema of a list, as a variant of the schema of its items. */
interface ListFact {
  readonly name: string;
  readonly items: string;
  /** Whether the document has only the items and a link. */
  readonly minimal?: true;
  /** Whether the list is an object whose values are the items. */
  readonly map?: true;
  /** The properties that items in the list omit (`without`) or may omit (`optional`). */
  readonly without?: readonly string[];
  readonly optional?: readonly string[];
}

const facts: {
  readonly schemas: {
    readonly documents: Readonly<Record<string, Json>>;
    readonly lists: Readonly<Record<string, ListFact>>;
  };
  readonly versions: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly lists: Readonly<Record<string, readonly string[]>>;
} = readFacts('image');

/** Returns a schema without its descriptions, which differ from the original's. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string');
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutDescriptions(inner)]));
}

/** Returns the schema document of a list, derived from that of its items as in Glance. */
function listDocument({ name, items, minimal, map, without = [], optional = [] }: ListFact): Json {
  const { definitions, properties, required, ...rest } = facts.schemas.documents[items] ?? {};
  const item = {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !without.includes(key))),
    ...(required && { required: required.filter((key: string) => !optional.includes(key)) }),
  };
  const pages = minimal ? [] : ['first', 'next'];
  return {
    name,
    properties: {
      [name]: map ? { type: 'object', additionalProperties: item } : { type: 'array', items: item },
      ...Object.fromEntries([...pages, 'schema'].map((key) => [key, { type: 'string' }])),
    },
    links: [...pages.map((key) => [key, key]), ['describedby', 'schema']].map(([rel, key]) => ({
      rel,
      href: `{${key}}`,
    })),
    ...(definitions && { definitions }),
  };
}

async function service() {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud);
  return {
    cloud,
    request: (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      send(method, `/image${path}`, body, headers),
  };
}

describe('schemas', () => {
  const documents = [
    ...Object.entries(facts.schemas.documents),
    ...Object.entries(facts.schemas.lists).map(([path, fact]) => [path, listDocument(fact)] as const),
  ];
  it.each(documents)('%s is that of the original', async (path, expected) => {
    const { request } = await service();
    const { status, body } = await request('GET', `/v2/schemas/${path}`);
    expect([status, withoutDescriptions(body)]).toEqual([200, expected]);
  });
});

describe('responses', () => {
  it('name the versions', async () => {
    const { request } = await service();
    const { versions } = (await request('GET', '/versions')).body;
    expect(versions.map(({ id }: Json) => id)).toEqual(facts.versions);
    expect(versions.map(({ status }: Json) => status)).toEqual([
      'CURRENT',
      ...facts.versions.slice(1).map(() => 'SUPPORTED'),
    ]);
  });

  it.each(Object.entries(facts.lists))('to GET %s have the keys of the original', async (path, keys) => {
    const { request } = await service();
    await request('POST', '/v2/metadefs/namespaces', { namespace: 'N' });
    const { id } = (await request('POST', '/v2/images', { name: 'shared' })).body;
    const { status, body } = await request('GET', path.replace('{image_id}', id).replace('{namespace}', 'N'));
    expect([status, Object.keys(body).sort()]).toEqual([200, [...keys].sort()]);
  });

  it('have the fields of the original', async () => {
    const { cloud, request } = await service();
    const found: Record<string, Json> = {};
    expect((await request('PUT', `/v2/cache/${IMAGE}`)).status).toBe(202);
    [found.cached_image = {}] = (await request('GET', '/v2/cache')).body.cached_images;
    [found.store = {}] = (await request('GET', '/v2/info/stores')).body.stores;
    [found.store_detail = {}] = (await request('GET', '/v2/info/stores/detail')).body.stores;
    found.usage = (await request('GET', '/v2/info/usage')).body.usage;
    [found.location = {}] = (await request('GET', `/v2/images/${IMAGE}/locations`)).body;
    [found.resource_type = {}] = (await request('GET', '/v2/metadefs/resource_types')).body.resource_types;
    await request('POST', '/v2/metadefs/namespaces', { namespace: 'N' });
    found.tag = (await request('POST', '/v2/metadefs/namespaces/N/tags/a')).body;
    [found.tag_in_lists = {}] = (await request('GET', '/v2/metadefs/namespaces/N/tags')).body.tags;
    const { id } = (await request('POST', '/v2/images', { disk_format: 'raw', container_format: 'bare' })).body;
    const method = { name: 'web-download', uri: `${cloud.url}/identity/v3` };
    await request('POST', `/v2/images/${id}/import`, { method });
    [found.image_task = {}] = (await request('GET', `/v2/images/${id}/tasks`)).body.tasks;
    const keys = Object.entries(found).map(([name, wire]) => [name, Object.keys(wire).sort()]);
    const expected = Object.entries(facts.fields).map(([name, fields]) => [name, [...fields].sort()]);
    expect(Object.fromEntries(keys)).toEqual(Object.fromEntries(expected));
  });
});
