import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { images, stage } from './stage.js';

interface Rule {
  readonly action: string;
  /** A valid body at the version of the request. */
  readonly body: unknown;
  readonly version: string;
  readonly status: number;
  /** Bodies that the schema rejects. */
  readonly bad: readonly unknown[];
  /** Actions to run before the call. The last one determines the state of the server. */
  readonly before?: readonly (readonly [string, unknown])[];
  /** Whether the action is rejected for a paused server. */
  readonly rejectedWhilePaused?: false;
  readonly adminOnly?: true;
  /** Whether the action ignores a lock. */
  readonly passesLock?: true;
  readonly below?: string;
}

const uuid = '99999999-9999-4999-8999-999999999999';

/** The actions under test, with their bodies, versions and restrictions. */
const rules: readonly Rule[] = [
  { action: 'rescue', body: null, version: '2.1', status: 200, bad: [1, 'x', { adminPass: 1 }, { host: 'a1' }] },
  { action: 'unrescue', body: null, version: '2.1', status: 202, bad: [], before: [['rescue', null]] },
  {
    action: 'rebuild',
    body: { imageRef: images.other },
    version: '2.1',
    status: 202,
    bad: [null, {}, { imageRef: 'x' }, { imageRef: uuid, x: 1 }, { imageRef: uuid, description: 'x' }],
  },
  { action: 'resize', body: { flavorRef: '2' }, version: '2.1', status: 202, bad: [null, {}, { flavorRef: '' }] },
  {
    action: 'confirmResize',
    body: null,
    version: '2.1',
    status: 204,
    bad: [],
    before: [['resize', { flavorRef: '2' }]],
  },
  {
    action: 'revertResize',
    body: null,
    version: '2.1',
    status: 202,
    bad: [],
    before: [['resize', { flavorRef: '2' }]],
  },
  { action: 'migrate', body: null, version: '2.56', status: 202, bad: ['x', { host: '' }, { x: 1 }], adminOnly: true },
  {
    action: 'os-migrateLive',
    body: { host: null, block_migration: 'auto' },
    version: '2.68',
    status: 202,
    bad: [
      null,
      {},
      { host: null },
      { host: null, block_migration: 'auto', force: true },
      { host: null, block_migration: 'x' },
    ],
    adminOnly: true,
    rejectedWhilePaused: false,
  },
  {
    action: 'createImage',
    body: { name: 'copy' },
    version: '2.1',
    status: 202,
    bad: [null, {}, { name: '' }, { name: ' x' }],
    rejectedWhilePaused: false,
    passesLock: true,
  },
  {
    action: 'createBackup',
    body: { name: 'copy', backup_type: 'daily', rotation: 1 },
    version: '2.1',
    status: 202,
    bad: [null, { name: 'x' }, { name: 'copy', backup_type: 'daily', rotation: -1 }],
    rejectedWhilePaused: false,
    passesLock: true,
  },
  {
    action: 'changePassword',
    body: { adminPass: 'x' },
    version: '2.1',
    status: 202,
    bad: [null, {}, { adminPass: 1 }],
  },
  { action: 'shelve', body: null, version: '2.1', status: 202, bad: [], rejectedWhilePaused: false },
  {
    action: 'unshelve',
    body: null,
    version: '2.77',
    status: 202,
    bad: [{}, { x: 1 }, { availability_zone: null }],
    before: [['shelve', null]],
  },
  {
    action: 'trigger_crash_dump',
    body: null,
    version: '2.17',
    status: 202,
    bad: [1, {}],
    below: '2.16',
    rejectedWhilePaused: false,
  },
  {
    action: 'injectNetworkInfo',
    body: null,
    version: '2.1',
    status: 202,
    bad: [],
    adminOnly: true,
    rejectedWhilePaused: false,
  },
  {
    action: 'os-resetState',
    body: { state: 'error' },
    version: '2.1',
    status: 202,
    bad: [null, {}, { state: 'x' }],
    adminOnly: true,
    rejectedWhilePaused: false,
    passesLock: true,
  },
  { action: 'forceDelete', body: null, version: '2.1', status: 202, bad: [], rejectedWhilePaused: false },
];

describe('the rules of actions', () => {
  const on = sharedByTests(stage);

  async function prepared({ before = [] }: Rule): Promise<any> {
    const server = await on.ada('2.37').boot();
    for (const [action, body] of before) await on.admin('2.37').act(server.id, action, body);
    return server;
  }

  it.each(rules)('$action returns $status at $version', async (rule) => {
    const server = await prepared(rule);
    const client = rule.adminOnly ? on.admin(rule.version) : on.ada(rule.version);
    const responded = await client.act(server.id, rule.action, rule.body);
    expect(responded.status, JSON.stringify(responded.body)).toBe(rule.status);
  });

  it.each(rules)('$action rejects invalid bodies before it looks up the server', async (rule) => {
    const client = rule.adminOnly ? on.admin(rule.version) : on.ada(rule.version);
    for (const body of rule.bad) {
      const response = await client.act(uuid, rule.action, body);
      expect([body, response.status, Object.keys(response.body)]).toEqual([body, 400, ['badRequest']]);
    }
    expect((await client.act(uuid, rule.action, rule.body)).body.itemNotFound.message).toBe(
      `Instance ${uuid} could not be found.`,
    );
  });

  it.each(rules.filter(({ below }) => below))('$action does not exist at $below', async ({ action, body, below }) => {
    const response = await on.admin(below).act(uuid, action, body);
    expect(response.body.itemNotFound.message).toBe('The resource could not be found.');
  });

  it.each(rules.filter(({ adminOnly }) => adminOnly))('$action is for administrators', async (rule) => {
    const server = await prepared(rule);
    const response = await on.ada(rule.version).act(server.id, rule.action, rule.body);
    expect(response.status).toBe(403);
    expect(response.body.forbidden.message).toMatch(/^Policy doesn't allow os_compute_api:.* to be performed\.$/);
  });

  it.each(rules)('$action respects a lock', async (rule) => {
    const server = await prepared(rule);
    await on.admin().act(server.id, 'lock');
    if (rule.adminOnly)
      return expect((await on.admin(rule.version).act(server.id, rule.action, rule.body)).status).toBe(rule.status);
    const response = await on.ada(rule.version).act(server.id, rule.action, rule.body);
    if (rule.passesLock) return expect(response.status).toBe(rule.status);
    expect(response.body).toEqual({ conflictingRequest: { code: 409, message: `Instance ${server.id} is locked` } });
    return undefined;
  });

  it.each(rules)('$action is rejected in states that do not allow it', async (rule) => {
    const server = await on.ada('2.37').boot();
    await on.ada().act(server.id, 'pause');
    const client = rule.adminOnly ? on.admin(rule.version) : on.ada(rule.version);
    const response = await client.act(server.id, rule.action, rule.body);
    if (rule.rejectedWhilePaused === false) return expect(response.status).toBe(rule.status);
    expect(response.body.conflictingRequest.message).toBe(
      `Cannot '${rule.action}' instance ${server.id} while it is in vm_state paused`,
    );
    return undefined;
  });

  it('shelveOffload is for administrators, and for shelved servers only', async () => {
    const server = await on.ada('2.37').boot();
    expect((await on.ada().act(server.id, 'shelveOffload')).status).toBe(403);
    expect((await on.admin().act(server.id, 'shelveOffload')).body.conflictingRequest.message).toBe(
      `Cannot 'shelveOffload' instance ${server.id} while it is in vm_state active`,
    );
  });

  it('resetNetwork is removed', async () => {
    expect((await on.admin().act(uuid, 'resetNetwork')).status).toBe(410);
  });

  it.each([
    ['CONFLICT', 409, 'conflictingRequest'],
    ['NOT_SUPPORTED', 501, 'notImplemented'],
  ] as const)(
    'changePassword returns the error of a guest that does not support it: %s',
    async (code, status, fault) => {
      const unsupported = await stage();
      Object.assign(unsupported.driver, {
        obstacle: async (verb: string) => ({ code, message: `the guest does not know ${verb}` }),
      });
      const server = await unsupported.ada().boot();
      const response = await unsupported.ada().act(server.id, 'changePassword', { adminPass: 'x' });
      expect(response.status).toBe(status);
      expect(response.body[fault].message).toBe('the guest does not know set_password');
      expect((await unsupported.ada().get(`/servers/${server.id}`)).body.server.status).toBe('ACTIVE');
      await unsupported.api.close();
    },
  );

  it('actions that the driver does not support return 501 or 400', async () => {
    const weak = await stage({ driver: { unsupported: ['set_password', 'pause', 'rescue', 'crash_dump'] } });
    const server = await weak.ada('2.37').boot();
    for (const [action, body, status] of [
      ['changePassword', { adminPass: 'x' }, 501],
      ['pause', null, 501],
      ['rescue', null, 501],
      ['trigger_crash_dump', null, 400],
    ] as const)
      expect([action, (await weak.ada().act(server.id, action, body)).status]).toEqual([action, status]);
    await weak.api.close();
  });
});
