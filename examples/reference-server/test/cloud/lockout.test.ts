import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { startCloud } from './cloud-under-test.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-lockout-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'a SQLite file', create: async () => join(folder, `${++files}.db`) },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', create: () => freshDatabase(postgresUrl) }] : []),
];

const LIMIT = ['--lockout-failure-attempts', '2'];

async function start(database: string, ...args: readonly string[]) {
  const cloud = await startCloud(database, '--clouds-yaml', join(folder, `${++files}.yaml`), ...args);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= cloud.stop();
    return stopped;
  };
  onTestFinished(stop);
  return { ...cloud, stop };
}

describe.each(databases)('failed logins on $kind', ({ create }) => {
  it('lock the account of a user, also after a restart, until an administrator changes the user', async () => {
    const database = await create();
    const cloud = await start(database, ...LIMIT);
    const admin = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
    const user = { name: 'ada', password: 'right', default_project_id: null };
    const { id } = (await cloud.send('post', '/identity/v3/users', admin, { user })).body.user;
    const logIn = async (on: typeof cloud, password: string) => {
      const identity = { methods: ['password'], password: { user: { id, password } } };
      return on.send('post', '/identity/v3/auth/tokens', undefined, { auth: { identity } });
    };
    const wrong = await logIn(cloud, 'wrong');
    expect((await logIn(cloud, 'right')).status).toBe(201);
    for (const password of ['one', 'two']) expect((await logIn(cloud, password)).status).toBe(401);
    await cloud.stop();

    const next = await start(database, ...LIMIT);
    const locked = await logIn(next, 'right');
    // The response does not reveal that the password is right, or that the account exists.
    expect([locked.status, locked.body]).toEqual([401, wrong.body]);
    expect((await next.send('patch', `/identity/v3/users/${id}`, admin, { user: { enabled: true } })).status).toBe(200);
    expect((await logIn(next, 'right')).status).toBe(201);

    const options = { ignore_lockout_failure_attempts: true };
    expect((await next.send('patch', `/identity/v3/users/${id}`, admin, { user: { options } })).status).toBe(200);
    for (const password of ['a', 'b', 'c']) expect((await logIn(next, password)).status).toBe(401);
    expect((await logIn(next, 'right')).status).toBe(201);
  });

  it('lock the administrator, until its password is reset', async () => {
    const database = await create();
    const cloud = await start(database, ...LIMIT, '--lockout-duration', '0');
    const account = cloud.admin ?? expect.fail('no administrator');
    for (const password of ['one', 'two']) expect((await cloud.logIn({ ...account, password })).status).toBe(401);
    expect((await cloud.logIn(account)).status).toBe(401);
    await cloud.stop();
    const next = await start(database, ...LIMIT, '--reset-admin-password');
    expect((await next.logIn(next.admin ?? expect.fail('no administrator'))).status).toBe(201);
  });
});
