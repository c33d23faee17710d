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

/** Valid values of fields that later versions added. */
const ADDED: Readonly<Record<string, (request: SendRequest) => Promise<unknown> | unknown>> = {
  group_id: (request) => idOf(request, 'groups', 'group'),
  backup_id: (request) => idOf(request, 'backups', 'backup'),
  metadata: () => ({ tier: 'gold' }),
  availability_zone: () => 'nova',
  no_snapshots: () => true,
  mode: () => 'ro',
};

describe('fields that later versions added', () => {
  const added = Object.entries(facts).flatMap(([one, { request, additional }]) =>
    Object.entries(request).flatMap(([field, { since }]) => (since ? [[one, field, since, additional] as const] : [])),
  );

  it.each(added)('%s: accepts %s since 3.%i', async (one, field, since) => {
    const cloud = await cloudUnderTest();
    const requestAt = (minor: number): SendRequest => {
      const raw = clientOf(cloud);
      return (method, path, body) => raw(method, `/volume${path}`, body, headersOf(minor));
    };
    const path = facts[one]?.path ?? '';
    // A volume in a group must have a type that the group supports.
    const extra = field === 'group_id' ? { volume_type: '__DEFAULT__' } : {};
    const valid = { ...(await samples[one]?.create?.(requestAt(71))), ...extra };
    const body = { [one]: { ...valid, [field]: await ADDED[field]?.(below(requestAt(71))) } };
    // Until 3.52, requests for volumes may contain unknown fields.
    const before = await requestAt(since - 1)('POST', path, body);
    expect(before.status).toBe(one === 'volume' ? facts[one]?.statuses.create : 400);
    const accepted = await requestAt(since)('POST', path, {
      [one]: { ...(await samples[one]?.create?.(requestAt(71))), ...extra, [field]: body[one]?.[field as never] },
    });
    expect([accepted.status, accepted.body], JSON.stringify(accepted.body)).toEqual([
      facts[one]?.statuses.create,
      accepted.body,
    ]);
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
