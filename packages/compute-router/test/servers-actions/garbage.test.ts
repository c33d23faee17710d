import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, stage } from './stage.js';

/** Every action key under test, with the fields that its value may contain. */
const fields: Readonly<Record<string, readonly string[]>> = {
  rescue: ['adminPass', 'rescue_image_ref', 'host'],
  unrescue: [],
  rebuild: [
    'imageRef',
    'name',
    'metadata',
    'accessIPv4',
    'key_name',
    'user_data',
    'hostname',
    'description',
    'adminPass',
  ],
  resize: ['flavorRef', 'OS-DCF:diskConfig'],
  confirmResize: [],
  revertResize: [],
  migrate: ['host'],
  'os-migrateLive': ['host', 'block_migration', 'force'],
  evacuate: ['host', 'adminPass', 'force'],
  createImage: ['name', 'metadata'],
  createBackup: ['name', 'backup_type', 'rotation', 'metadata'],
  changePassword: ['adminPass'],
  shelve: [],
  unshelve: ['availability_zone', 'host'],
  trigger_crash_dump: [],
  injectNetworkInfo: [],
  'os-resetState': ['state'],
  restore: [],
};

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', '', 'a1', '1', '70a599e0-31e7-49b7-b260-868f441e862b', '__proto__', 'aGVsbG8='),
);

const request = fc.constantFrom(...Object.keys(fields)).chain((action) =>
  fc.record({
    action: fc.constant(action),
    body: fc.oneof(
      value,
      fc.dictionary(fc.constantFrom('x', ...fields[action]!), value),
      fc.record(Object.fromEntries(fields[action]!.map((name) => [name, value]))),
    ),
    version: fc.constantFrom('2.1', '2.24', '2.44', '2.56', '2.77', '2.94', '2.100'),
  }),
);

describe('random input', () => {
  let on: Stage;
  let id: string;
  beforeAll(async () => {
    on = await stage();
    id = (await on.ada('2.37').boot()).id;
  });
  afterAll(() => on.api.close());

  it('in the bodies of actions never causes a 500', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ action, body, version }) => {
        const { status } = await on.admin(version).act(id, action, body);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 600 },
    );
    expect(on.api.errors).toEqual([]);
  });

  it('in the queries of migrations and of the history never causes a 500', async () => {
    const names = [
      'limit',
      'marker',
      'changes-since',
      'changes-before',
      'host',
      'status',
      'hidden',
      'user_id',
      'project_id',
      'x',
    ];
    const query = fc.array(fc.tuple(fc.constantFrom(...names), fc.string({ unit: 'binary' })), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom('2.1', '2.59', '2.80'), async (pairs, version) => {
        const search = pairs
          .map(([name, text]) => `${name}=${encodeURIComponent((text as any).toWellFormed())}`)
          .join('&');
        for (const path of ['/os-migrations', `/servers/${id}/os-instance-actions`]) {
          expect((await on.admin(version).get(`${path}?${search}`)).status).toBeLessThan(500);
        }
      }),
      { numRuns: 200 },
    );
    expect(on.api.errors).toEqual([]);
  });
});
