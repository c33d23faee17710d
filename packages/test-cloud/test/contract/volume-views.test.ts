import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ApiResponse, clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

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

type SendRequest = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/** The creation of a resource: its path, the body of the creation and of the change. */
interface Sample {
  readonly path: string;
  readonly body: (request: SendRequest) => Promise<object> | object;
  readonly change?: object;
  /** Only administrators create it. */
  readonly admin?: true;
}

let count = 0;
const idOf = async (request: SendRequest, path: string, one: string) => {
  const { body } = SAMPLES[one]!;
  return (await request('POST', path, { [one]: await body(request) })).body[one].id as string;
};

const SAMPLES: Readonly<Record<string, Sample>> = {
  volume: { path: 'volumes', body: () => ({ size: 1, imageRef: IMAGE }), change: { name: 'renamed' } },
  snapshot: {
    path: 'snapshots',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume') }),
    change: { name: 'renamed' },
  },
  volume_type: { path: 'types', body: () => ({ name: `t${++count}` }), change: { description: 'd' }, admin: true },
  group_type: {
    path: 'group_types',
    body: () => ({ name: `g${++count}` }),
    change: { description: 'd' },
    admin: true,
  },
  group: {
    path: 'groups',
    body: async (request) => ({
      name: 'g',
      group_type: await idOf(request, 'group_types', 'group_type'),
      volume_types: [(await request('GET', 'types/default')).body.volume_type.id],
    }),
    change: { name: 'renamed' },
    admin: true,
  },
  group_snapshot: {
    path: 'group_snapshots',
    async body(request) {
      const group_id = await idOf(request, 'groups', 'group');
      const { body } = await request('POST', 'volumes', { volume: { size: 1 } });
      await request('PUT', `groups/${group_id}`, { group: { add_volumes: body.volume.id } });
      return { group_id, name: 's' };
    },
    admin: true,
  },
  backup: {
    path: 'backups',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume'), name: 'b' }),
    change: { name: 'renamed' },
  },
  transfer: {
    path: 'volume-transfers',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume') }),
  },
};

/** The versions before and after each version in which a resource gets a field. */
function edges({ since = {} }: Fact, first = 0): readonly number[] {
  const found = Object.values(since).flatMap((minor) => [minor - 1, minor]);
  return [...new Set([first, ...found, 70])].filter((minor) => minor >= first).sort((a, b) => a - b);
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

      if (change) {
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

/** Lists of a host's resources require its name. */
const queryOf = (path: string) => (path.startsWith('manageable') ? '?host=volumes@simulated' : '');

it.each(Object.entries(facts.paths))('%s exist since version 3.%i', async (path, first) => {
  const status = async (minor: number) => (await (await requesterAs(true, minor))('GET', path + queryOf(path))).status;
  expect(await status(first - 1)).toBe(404);
  expect(await status(first)).toBe(200);
});
