// Compares the image service with the facts in `reference/`: patches, rejected fields of new images, and errors.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, clientOf, cloudUnderTest, IMAGE } from '../clouds.js';
import { readFacts } from './operation-facts.js';

interface ChangeFact {
  readonly changes: readonly unknown[];
  readonly status: number;
  readonly message?: string;
  /** The fields of the image after the change. */
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly missing?: readonly string[];
}

interface ErrorFact {
  readonly as: 'administrator' | 'owner';
  /** Method and path. */
  readonly request: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly message: string;
}

const facts: {
  readonly changes: Readonly<Record<'queued' | 'older' | 'owner' | 'active', readonly ChangeFact[]>>;
  readonly creations: readonly { readonly fields: object; readonly status: number; readonly message: string }[];
  readonly errors: readonly ErrorFact[];
  readonly quotas: {
    readonly maximum: number;
    readonly status: number;
    readonly message: string;
    readonly kinds: readonly string[];
  };
} = readFacts('image');

const NEWER = { 'Content-Type': 'application/openstack-images-v2.1-json-patch' };
const OLDER = { 'Content-Type': 'application/openstack-images-v2.0-json-patch' };
const FORMATS = { disk_format: 'raw', container_format: 'bare' };

const messageOf = ({ body }: ApiResponse): string =>
  (typeof body === 'string' ? body : String(body.message))
    .replaceAll(/&#x27;|&#39;/g, "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<');

/** Starts a cloud with a queued image that a project member has created. */
async function images() {
  const cloud = await cloudUnderTest();
  const administrator = clientOf(cloud);
  const owner = clientOf(cloud, cloud.token('demo', 'demo'));
  const created = await owner('POST', '/image/v2/images', { name: 'mine', colour: 'red', ...FORMATS });
  return { cloud, administrator, owner, id: created.body.id as string };
}

const cases = (form: keyof typeof facts.changes) =>
  facts.changes[form].map((fact) => [JSON.stringify(fact.changes), fact.status, fact] as const);

async function expectChange(fact: ChangeFact, request: ReturnType<typeof clientOf>, id: string, headers = NEWER) {
  const before = (await request('GET', `/image/v2/images/${id}`)).body;
  const changed = await request('PATCH', `/image/v2/images/${id}`, fact.changes, headers);
  expect(changed.status, messageOf(changed)).toBe(fact.status);
  const after = (await request('GET', `/image/v2/images/${id}`)).body;
  if (fact.status !== 200) {
    expect(messageOf(changed)).toContain(fact.message);
    expect(after).toEqual(before);
    return;
  }
  const { shown = {}, missing = [] } = fact;
  if (fact.changes.length === 0) expect(after).toEqual(before);
  else expect(Object.keys(shown).length + missing.length).toBeGreaterThan(0);
  expect({ ...after, tags: [...after.tags].sort() }).toMatchObject(shown);
  for (const key of missing) expect(after).not.toHaveProperty(key);
}

describe('changes of images', () => {
  it.each(cases('queued'))('%s return %i', async (_, __, fact) => {
    const { administrator, id } = await images();
    await expectChange(fact, administrator, id);
  });

  it.each(cases('older'))('in the older format, %s return %i', async (_, __, fact) => {
    const { administrator, id } = await images();
    await expectChange(fact, administrator, id, OLDER);
  });

  it.each(cases('owner'))('by the owner, %s return %i', async (_, __, fact) => {
    const { owner, id } = await images();
    await expectChange(fact, owner, id);
  });

  it.each(cases('active'))('of an image with content, %s return %i', async (_, __, fact) => {
    const { administrator } = await images();
    await expectChange(fact, administrator, IMAGE);
  });
});

describe('new images', () => {
  it.each(facts.creations.map((fact) => [JSON.stringify(fact.fields).slice(0, 80), fact] as const))(
    'cannot have %s',
    async (_, { fields, status, message }) => {
      const { administrator } = await images();
      const rejected = await administrator('POST', '/image/v2/images', { name: 'rejected', ...fields });
      expect([rejected.status, messageOf(rejected)]).toEqual([status, expect.stringContaining(message)]);
      expect((await administrator('GET', '/image/v2/images?name=rejected')).body.images).toEqual([]);
    },
  );
});

/** Creates the resources that the requests in the facts refer to. Returns their names, by placeholder. */
async function placeholders({ administrator, owner, id }: Awaited<ReturnType<typeof images>>) {
  const member = 'other-project';
  await owner('POST', `/image/v2/images/${id}/members`, { member });
  const property = { title: 'Bus', type: 'string' };
  for (const namespace of ['open', 'kept'])
    await administrator('POST', '/image/v2/metadefs/namespaces', {
      namespace,
      visibility: 'public',
      protected: namespace === 'kept',
      objects: [{ name: 'disk' }],
      properties: { bus: property },
      tags: [{ name: 'fast' }],
      resource_type_associations: [{ name: 'A', prefix: 'hw:' }],
    });
  const [{ id: store }] = (await owner('GET', '/image/v2/info/stores')).body.stores;
  return { image_id: id, public: IMAGE, member, namespace: 'open', protected: 'kept', store } as Record<string, string>;
}

describe('errors', () => {
  it.each(facts.errors.map((fact) => [fact.request.slice(0, 80), fact.as, JSON.stringify(fact.body), fact] as const))(
    'of %s by the %s with %s have the status and message of the original',
    async (_, __, ___, fact) => {
      const setup = await images();
      const names = await placeholders(setup);
      const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (key, name: string) => names[name] ?? key);
      const [method = '', path] = filled(fact.request).split(' ');
      const body = fact.body === undefined ? undefined : JSON.parse(filled(JSON.stringify(fact.body)));
      const headers = { ...(method === 'PATCH' && NEWER), ...fact.headers };
      const rejected = await setup[fact.as](method, `/image${path}`, body, headers);
      expect([rejected.status, messageOf(rejected)]).toEqual([
        fact.status,
        expect.stringContaining(filled(fact.message)),
      ]);
    },
  );
});

describe('quotas', () => {
  const { maximum, status, message, kinds } = facts.quotas;
  const numbers = Array.from({ length: maximum }, (_, index) => index);
  const properties = Object.fromEntries(numbers.map((number) => [`p${number}`, 'x']));
  const tags = numbers.map((number) => `t${number}`);

  it('limit the properties, tags and members of an image', async () => {
    const { owner } = await images();
    const { id } = (await owner('POST', '/image/v2/images', { ...properties, tags })).body;
    const path = `/image/v2/images/${id}`;
    for (const member of tags) expect((await owner('POST', `${path}/members`, { member })).status).toBe(200);
    const rejected = {
      properties: [
        await owner('POST', '/image/v2/images', { ...properties, more: 'x' }),
        await owner('PATCH', path, [{ op: 'add', path: '/more', value: 'x' }], NEWER),
      ],
      tags: [
        await owner('POST', '/image/v2/images', { tags: [...tags, 'more'] }),
        await owner('PATCH', path, [{ op: 'add', path: '/tags', value: [...tags, 'more'] }], NEWER),
        await owner('PUT', `${path}/tags/more`),
      ],
      'members for this image': [await owner('POST', `${path}/members`, { member: 'more' })],
    };
    expect(Object.keys(rejected)).toEqual(kinds);
    for (const [kind, responses] of Object.entries(rejected))
      for (const response of responses)
        expect([response.status, messageOf(response)]).toEqual([
          status,
          expect.stringContaining(message.replace('%s', kind)),
        ]);
    const swap = [
      { op: 'remove', path: '/p0' },
      { op: 'add', path: '/more', value: 'x' },
    ];
    expect((await owner('PATCH', path, swap, NEWER)).status).toBe(200);
  });
});
