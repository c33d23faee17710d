import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { type Operation, operationKey, operationsOf, readFacts } from './operation-facts.js';
import { type FieldFact, invalidValues } from './resource-facts.js';
import { idOf, SAMPLES, type SendRequest } from './volume-samples.js';

interface ActionFact {
  readonly status: number;
  /** The first minor version that has the action. */
  readonly since?: number;
  /** The status for project members. */
  readonly member?: number;
  /** Valid arguments. */
  readonly body: object | null;
  /** The valid values of each argument. */
  readonly request?: Readonly<Record<string, FieldFact>>;
}

const facts: Readonly<Record<string, Readonly<Record<string, ActionFact>>>> = readFacts('volume').actions;

const MISSING = '3f1de7a6-56a5-4c29-8f1d-5f4a55c1a0ee';

const ATTACH = { 'os-attach': facts['/v3/volumes/{volume_id}/action']?.['os-attach']?.body };

const actions = Object.entries(facts).flatMap(([path, byName]) =>
  Object.entries(byName).map(
    ([name, fact]) => [operationKey('POST', path).slice('POST /v3/'.length), name, fact] as const,
  ),
);

const headersOf = (minor: number) => ({ 'OpenStack-API-Version': `volume 3.${minor}` });

async function start() {
  const cloud = await cloudUnderTest();
  const at = (token?: string, minor = 71): SendRequest => {
    const raw = clientOf(cloud, token);
    return (method, path, body) => raw(method, `/volume/v3/${path}`, body, headersOf(minor));
  };
  return { at, request: at(), member: at(cloud.token('demo', 'demo')) };
}

/** Creates the resource for a path such as `volumes/{}/action`, and returns the path with the resource's id. */
async function pathOf(template: string, request: SendRequest, creator = request): Promise<string> {
  const [collection = ''] = template.split('/');
  if (!template.includes('{}')) return template;
  if (collection === 'attachments') {
    const attachment = { volume_uuid: await idOf(request, 'volumes', 'volume') };
    const { body } = await request('POST', 'attachments', { attachment });
    return template.replace('{}', body.attachment.id);
  }
  const [one = ''] = Object.entries(SAMPLES).find(([, { path }]) => path === collection) ?? [];
  return template.replace('{}', await idOf(SAMPLES[one]?.admin ? request : creator, collection, one));
}

/** The preceding actions that bring a resource into the state that an action requires, by action. */
const BEFORE: Readonly<Record<string, readonly object[]>> = {
  'os-detach': [ATTACH],
  'os-begin_detaching': [ATTACH],
  'os-roll_detaching': [ATTACH, { 'os-begin_detaching': null }],
  'os-force_detach': [ATTACH],
  'os-unset_image_metadata': [{ 'os-set_image_metadata': { metadata: { k: 'v' } } }],
  'os-update_snapshot_status': [{ 'os-reset_status': { status: 'creating' } }],
  removeProjectAccess: [{ addProjectAccess: { project: 'p' } }],
};

/** Arguments that name other resources. */
const ARGUMENTS: Readonly<Record<string, (request: SendRequest, path: string) => Promise<object>>> = {
  async revert(request, path) {
    const snapshot = { volume_id: path.split('/')[1] };
    return { snapshot_id: (await request('POST', 'snapshots', { snapshot })).body.snapshot.id };
  },
  'os-migrate_volume_completion': async (request) => ({ new_volume: await idOf(request, 'volumes', 'volume') }),
  async 'create-from-src'(request) {
    const group_snapshot_id = await idOf(request, 'group_snapshots', 'group_snapshot');
    return { group_snapshot_id };
  },
};

/** The message about a request that is rejected because of its arguments, and not because of the resource's state. */
const INVALID = /^Invalid input for |is invalid, valid statuses are: |is a required property$/;

/** Actions that this cloud always rejects, because it has only one volume service and no replication. */
const REJECTED = [
  'os-migrate_volume',
  'os-extend_volume_completion',
  'enable_replication',
  'disable_replication',
  'failover_replication',
  'list_replication_targets',
];

describe('the actions of the volume service', () => {
  it.each(actions)('%s: %s has the status of the original', async (template, name, { status, body }) => {
    const { request } = await start();
    const path = await pathOf(template, request);
    if (template.startsWith('types')) {
      const changed = await request('PUT', path.replace('/action', ''), { volume_type: { is_public: false } });
      expect(changed.status).toBe(200);
    }
    for (const before of BEFORE[name] ?? [])
      expect((await request('POST', path, before)).status, JSON.stringify(before)).toBeLessThan(300);
    const args = (await ARGUMENTS[name]?.(request, path)) ?? body;
    const response = await request('POST', path, { [name]: args });
    expect(response.status, JSON.stringify(response.body)).toBe(REJECTED.includes(name) ? 400 : status);
  });

  it.each(actions)('%s: %s exists in the versions of the original', async (template, name, { since = 0, body }) => {
    const { at } = await start();
    const path = await pathOf(template, at());
    const act = async (minor: number) =>
      (await at(undefined, minor)('POST', path, { [name]: body })).body?.itemNotFound;
    if (since > 0) expect((await act(since - 1))?.message).toBe('The resource could not be found.');
    expect((await act(since))?.message).not.toBe('The resource could not be found.');
  });

  it.each(actions.filter(([, , { request }]) => request))(
    '%s: %s rejects invalid arguments',
    async (template, name, { body, request: fields = {} }) => {
      const { request } = await start();
      const path = await pathOf(template, request);
      const accepted: unknown[] = [];
      const send = async (problem: string, args: object) => {
        const { status, body } = await request('POST', path, { [name]: args });
        if (status !== 400 || !INVALID.test(body.badRequest.message)) accepted.push([problem, args, status, body]);
      };
      for (const [key, fact] of Object.entries(fields)) {
        for (const [problem, value] of invalidValues(fact)) await send(problem, { ...body, [key]: value });
        const { [key]: _, ...others } = { ...body } as Readonly<Record<string, unknown>>;
        if (fact.required) await send('missing', others);
      }
      expect(accepted).toEqual([]);
    },
  );

  it.each(actions.filter(([template]) => template.includes('{}')))(
    '%s: %s returns 404 for a missing resource',
    async (template, name, { body }) => {
      const { request } = await start();
      expect((await request('POST', template.replace('{}', MISSING), { [name]: body })).status).toBe(404);
    },
  );

  it.each(actions.filter(([, , { member }]) => member))(
    '%s: %s rejects a member of the project',
    async (template, name, { body, member: expected }) => {
      const { request, member } = await start();
      const path = await pathOf(template, request, member);
      expect((await member('POST', path, { [name]: body })).status).toBe(expected);
    },
  );

  it.each(actions.filter(([, , { body }]) => body && Object.keys(body).length > 0))(
    '%s: %s rejects unknown arguments, and strings instead of arguments',
    async (template, name, { body }) => {
      const { request } = await start();
      const path = await pathOf(template, request);
      const invalid = { status: 400, body: { badRequest: { message: expect.stringMatching(INVALID) } } };
      if (name !== 'revert')
        expect(await request('POST', path, { [name]: { ...body, unheard_of: 1 } })).toMatchObject(invalid);
      expect(await request('POST', path, { [name]: 'x' })).toMatchObject(invalid);
    },
  );

  it.each([...new Set(actions.map(([template]) => template))])('%s rejects unknown actions', async (template) => {
    const { request } = await start();
    const path = await pathOf(template, request);
    const message = 'There is no such action: os-dance. Verify the request body and Content-Type header and try again.';
    const unknown = await request('POST', path, { 'os-dance': {} });
    expect(unknown).toMatchObject({ status: 400, body: { badRequest: { message } } });
    for (const body of [{}, { 'os-dance': {}, 'os-sing': {} }, []])
      expect(await request('POST', path, body)).toMatchObject({
        status: 400,
        body: { badRequest: { message: 'Malformed request body' } },
      });
  });
});

const UNHANDLED = ['/v3/os-services/get-log', '/v3/os-services/set-log'];
const later = operationsOf('volume').flatMap((one) =>
  one.since && !one.path.endsWith('/action') && !UNHANDLED.includes(one.path)
    ? [[`${one.method} ${one.path}`, one.since, one] as const]
    : [],
);

it.each(later)('%s exists since 3.%i', async (_, since, { method, path, body }: Operation) => {
  const { at } = await start();
  const target = path.slice('/v3/'.length).replaceAll(/\{\w+\}/g, MISSING);
  const message = async (minor: number) =>
    (await at(undefined, minor)(method, target, method.startsWith('P') ? (body ?? {}) : undefined)).body?.itemNotFound
      ?.message;
  const unknown = 'The resource could not be found.';
  expect(await message(since - 1)).toBe(unknown);
  expect(await message(since)).not.toBe(unknown);
});
