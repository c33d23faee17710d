import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { operationsOf } from './operation-facts.js';
import { SAMPLES, type SendRequest } from './volume-samples.js';

type View = 'list' | 'show' | 'create' | 'change';

/** The fields of a resource by response, from `reference/volume.json`; null: the response has no body. */
interface Fact extends Partial<Record<View, readonly string[] | null>> {
  readonly since?: Readonly<Record<string, number>>;
  readonly administrator?: readonly string[];
}

const facts = JSON.parse(readFileSync(new URL('../../../../reference/volume.json', import.meta.url), 'utf8')) as {
  readonly views: Readonly<Record<string, Fact>>;
  readonly paths: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly services: Readonly<Record<string, number>>;
};

/** Returns the first minor version in which clients can change a path's resources. */
const changeableSince = (path: string) =>
  operationsOf('volume').find((one) => one.method === 'PUT' && one.path.startsWith(`/v3/${path}/{`))?.since ?? 0;

/** The minor versions that add a field to a resource, and the version before each of them. */
function edges({ since = {} }: Fact, first = 0): readonly number[] {
  const found = Object.values(since).flatMap((minor) => [minor - 1, minor]);
  return [...new Set([first, ...found, 71])].filter((minor) => minor >= first).sort((a, b) => a - b);
}

function expectedKeys(fact: Fact, view: View, minor: number, isAdmin: boolean): readonly string[] {
  return (fact[view] ?? [])
    .filter((field) => (fact.since?.[field] ?? 0) <= minor && (isAdmin || !fact.administrator?.includes(field)))
    .sort();
}

const keys = (wire: unknown) => Object.keys(wire as object).sort();

async function requesterAs(isAdmin: boolean, minor: number): Promise<SendRequest> {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud, isAdmin ? undefined : cloud.token('demo', 'demo'));
  const headers = { 'OpenStack-API-Version': `volume 3.${minor}` };
  return (method, path, body) => raw(method, `/volume/v3/${path}`, body, headers);
}

describe.each(Object.entries(SAMPLES))('the responses of %s', (one, { path, body, change, admin }) => {
  const fact = facts.views[one]!;
  const statuses = facts.statuses[one]!;
  const many = path === 'types' ? 'volume_types' : path === 'volume-transfers' ? 'transfers' : path;
  const callers = admin ? [true] : [true, false];

  it.each(callers.flatMap((isAdmin) => edges(fact, facts.paths[path]).map((minor) => [isAdmin, minor] as const)))(
    'have the fields that the original shows (administrator: %s, version 3.%i)',
    async (isAdmin, minor) => {
      const request = await requesterAs(isAdmin, minor);
      const created = await request('POST', path, { [one]: await body(request) });
      expect(created.status, JSON.stringify(created.body)).toBe(statuses.create);
      expect(keys(created.body[one])).toEqual(expectedKeys(fact, 'create', minor, isAdmin));
      const { id } = created.body[one];

      const shown = await request('GET', `${path}/${id}`);
      expect(keys(shown.body[one])).toEqual(expectedKeys(fact, 'show', minor, isAdmin));
      const listed = (items: readonly { id: string }[]) => keys(items.find((item) => item.id === id));
      const list = (await request('GET', path)).body[many];
      expect(listed(list)).toEqual(expectedKeys(fact, fact.list ? 'list' : 'show', minor, isAdmin));
      if (fact.list)
        expect(listed((await request('GET', `${path}/detail`)).body[many])).toEqual(
          expectedKeys(fact, 'show', minor, isAdmin),
        );

      if (change && minor >= changeableSince(path)) {
        const changed = await request('PUT', `${path}/${id}`, { [one]: change });
        expect(changed.status).toBe(statuses.change);
        if (fact.change === null) expect(changed.body).toBe('');
        else expect(keys(changed.body[one])).toEqual(expectedKeys(fact, 'change', minor, isAdmin));
      }
      if (statuses.remove) expect((await request('DELETE', `${path}/${id}`)).status).toBe(statuses.remove);
    },
  );
});

it.each(edges({ since: facts.services }))('services have the fields of version 3.%i', async (minor) => {
  const request = await requesterAs(true, minor);
  const { services } = (await request('GET', 'os-services?binary=cinder-volume')).body;
  for (const [field, since] of Object.entries(facts.services))
    expect(Object.hasOwn(services[0], field), field).toBe(minor >= since);
});

/** Requests for the resources of a host must name the host. */
const queryOf = (path: string) => (path.startsWith('manageable') ? '?host=volumes@simulated' : '');

it.each(Object.entries(facts.paths))('%s exist since version 3.%i', async (path, first) => {
  const status = async (minor: number) => (await (await requesterAs(true, minor))('GET', path + queryOf(path))).status;
  expect(await status(first - 1)).toBe(404);
  expect(await status(first)).toBe(200);
});
