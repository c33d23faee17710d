import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import { describeResources, type Sample, type SendRequest } from './resource-contract.js';
import type { ResourceFact } from './resource-facts.js';
import { idOf, SAMPLES } from './volume-samples.js';

const SERVER = '9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11';

const facts: Readonly<Record<string, ResourceFact>> = readFacts('volume').resources;

const headersOf = (minor: number) => ({ 'OpenStack-API-Version': `volume 3.${minor}` });

/** Returns a function that sends requests to paths below `/v3/`. */
const below =
  (request: SendRequest): SendRequest =>
  (method, path, body) =>
    request(method, `/v3/${path}`, body);

const samples: Readonly<Record<string, Sample>> = {
  ...Object.fromEntries(
    Object.entries(SAMPLES).map(([one, { body, change }]) => [
      one,
      { create: (request: SendRequest) => body(below(request)), change },
    ]),
  ),
  attachment: {
    create: async (request) => ({
      volume_uuid: await idOf(below(request), 'volumes', 'volume'),
      instance_uuid: SERVER,
    }),
    change: { connector: { host: 'compute-1' } },
  },
  qos_specs: { create: () => ({ name: `limited ${Math.random()}` }), change: { consumer: 'both', k: 'v' } },
};

describeResources('volume', samples, headersOf(71));

/** A field that a later version added. */
interface AddedField {
  /** Returns a valid value. */
  readonly value: (request: SendRequest) => Promise<unknown> | unknown;
  /** The other fields that differ from those of the sample. */
  readonly others?: object;
  /** The status of a request with the field in the previous version. Default: 400. */
  readonly before?: number;
  /** Returns what a created resource shows of the field. Default: the value of the field. */
  readonly shown?: (resource: any) => unknown;
  /** The result of `shown()`. Default: the value in the request. */
  readonly expected?: unknown;
}

const ADDED: Readonly<Record<string, AddedField>> = {
  // A volume in a group must have a type that the group supports. Until 3.52, unknown fields are ignored.
  group_id: {
    value: (request) => idOf(request, 'groups', 'group'),
    others: { volume_type: '__DEFAULT__' },
    before: facts.volume?.statuses.create,
  },
  // Without a size, a volume has the size of its backup.
  backup_id: {
    value: (request) => idOf(request, 'backups', 'backup'),
    others: { size: undefined, imageRef: undefined },
    shown: ({ size }) => size,
    expected: 1,
  },
  metadata: { value: () => ({ tier: 'gold' }) },
  availability_zone: { value: () => 'nova' },
  no_snapshots: { value: () => true },
  mode: { value: () => 'ro', shown: ({ attach_mode }) => attach_mode },
};

describe('fields that later versions added', () => {
  const added = Object.entries(facts).flatMap(([one, { request }]) =>
    Object.entries(request).flatMap(([field, { since }]) => (since ? [[one, field, since] as const] : [])),
  );

  it('have a valid value', () => {
    expect(added.map(([, field]) => field).sort()).toEqual(Object.keys(ADDED).sort());
  });

  it.each(added)('%s: accepts and stores %s since 3.%i, and not before', async (one, field, since) => {
    const cloud = await cloudUnderTest();
    const requestAt = (minor: number): SendRequest => {
      const raw = clientOf(cloud);
      return (method, path, body) => raw(method, `/volume${path}`, body, headersOf(minor));
    };
    const { path = '', statuses } = facts[one] ?? {};
    const { value, others, before = 400, shown = (resource) => resource[field], expected } = ADDED[field]!;
    const valid = await value(below(requestAt(71)));
    const create = async (minor: number) => {
      const sample = await samples[one]?.create?.(requestAt(71));
      const body = { [one]: { ...sample, ...others, [field]: valid } };
      const created = await requestAt(minor)('POST', path, body);
      if (created.status !== statuses?.create) return { status: created.status };
      const resource = (await requestAt(71)('GET', `${path}/${created.body[one].id}`)).body[one];
      return { status: created.status, shown: shown(resource) };
    };
    const earlier = await create(since - 1);
    expect(earlier.status).toBe(before);
    expect(earlier.shown).not.toEqual(expected ?? valid);
    expect(await create(since)).toEqual({ status: statuses?.create, shown: expected ?? valid });
  });

  it('are accepted for volumes until 3.52, like all unknown fields', async () => {
    const request = clientOf(await cloudUnderTest());
    const create = (fields: object, minor: number) =>
      request('POST', '/volume/v3/volumes', { volume: { size: 1, ...fields } }, headersOf(minor));
    for (const field of ['unheard_of', 'status', 'attach_status', 'user_id', 'project_id', 'scheduler_hints']) {
      expect([field, (await create({ [field]: 'x' }, 52)).status]).toEqual([field, 202]);
      expect([field, (await create({ [field]: 'x' }, 53)).status]).toEqual([field, 400]);
    }
  });
});
