import { randomBytes, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { admin, adminJson, start } from './operator.js';
import { type Program, runProgram, sendRequest } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-admin-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => void vi.stubEnv('APISTRATA_SECRET_KEY', ''));
afterEach(() => void vi.unstubAllEnvs());

async function boot({ url }: Program, name: string, fields: object = {}): Promise<string> {
  const server = { name, flavorRef: '1', imageRef: IMAGE, ...fields };
  const { status, body } = await sendRequest(url, 'POST', '/v2.1/servers', { body: { server } });
  expect(status).toBe(202);
  return body.server.id;
}

const statusOf = async ({ url }: Program, id: string) =>
  (await sendRequest(url, 'GET', `/v2.1/servers/${id}`)).body.server?.status ?? 'gone';

const expectStatus = (program: Program, id: string, status: string) =>
  expect.poll(() => statusOf(program, id), { interval: 100 }).toBe(status);

/** PostgreSQL reports connections for a moment after their process has ended. */
const expectUnused = (...place: string[]) =>
  expect.poll(async () => (await adminJson('status', ...place)).usedBy).toBeNull();

const kinds = [
  { kind: 'SQLite', database: async () => join(mkdtempSync(join(folder, 'db-')), 'cloud.db') },
  ...(inject('postgresUrl') ? [{ kind: 'PostgreSQL', database: () => freshDatabase(inject('postgresUrl')) }] : []),
];

describe.each(kinds)('admin commands while a server runs on $kind', ({ kind, database }) => {
  it('show and change the cloud, and callers see the changes immediately', async () => {
    const [db, key] = [await database(), join(folder, `${randomUUID()}.key`)];
    const place = ['--db', db, '--secret-key-file', key];
    const program = await start(...place);
    const id = await boot(program, 'web');
    await expectStatus(program, id, 'ACTIVE');

    // A server is ACTIVE before its job is deleted.
    await expect.poll(async () => (await adminJson('status', ...place)).work.jobs).toBe(0);
    const { usedBy, ...status } = await adminJson('status', ...place);
    expect(usedBy).toMatch(kind === 'SQLite' ? new RegExp(`process ${program.pid} on`) : /\d+ server connections/);
    expect(status).toMatchObject({
      kind: kind === 'SQLite' ? 'sqlite' : 'postgres',
      bytes: expect.any(Number),
      tables: { newestChange: expect.stringMatching(/^\d{4}-/), pending: [], newer: [] },
      servers: { active: 1 },
      work: { jobs: 0, running: 0, overdueMs: 0 },
    });
    expect((await admin('status', ...place)).output).toMatch(/servers +1 active\n/);

    const quota = await adminJson('quota', 'set', 'demo', 'instances=3', 'cores=-1', ...place);
    expect(quota).toMatchObject({ project: 'demo', limits: { instances: 3, cores: -1 }, used: { instances: 1 } });
    expect((await admin('quota', 'show', 'demo', ...place)).output).toMatch(/instances +3 +1\ncores +unlimited +1\n/);
    const { body } = await sendRequest(program.url, 'GET', '/v2.1/os-quota-sets/demo');
    expect(body.quota_set).toMatchObject({ instances: 3, cores: -1 });

    const [{ host }] = (await adminJson('service', 'list', ...place)).services.filter(
      ({ binary }: any) => binary === 'nova-compute',
    );
    const off = await adminJson('service', 'disable', host, '--reason', 'a new disk', ...place);
    expect(off.services).toMatchObject([{ host, status: 'disabled', reason: 'a new disk' }]);
    const services = await sendRequest(program.url, 'GET', `/v2.1/os-services?host=${host}&binary=nova-compute`, {
      token: 'admin',
    });
    expect(services.body.services).toMatchObject([{ status: 'disabled', disabled_reason: 'a new disk' }]);
    expect((await adminJson('service', 'enable', host, ...place)).services).toMatchObject([{ status: 'enabled' }]);

    await adminJson('server', 'reset-state', id, ...place);
    await expectStatus(program, id, 'ERROR');
    await adminJson('server', 'reset-state', id, '--state', 'active', ...place);
    await expectStatus(program, id, 'ACTIVE');
    const actions = await sendRequest(program.url, 'GET', `/v2.1/servers/${id}/os-instance-actions`);
    expect(actions.body.instanceActions[0]).toMatchObject({ action: 'resetState', user_id: 'operator' });

    await sendRequest(program.url, 'DELETE', `/v2.1/servers/${id}`);
    await expectStatus(program, id, 'gone');
    expect(await adminJson('db', 'purge', '--older-than', '1d', ...place)).toMatchObject({ servers: 0 });
    expect(await adminJson('db', 'purge', '--older-than', '0d', ...place)).toMatchObject({ servers: 1 });
    expect((await admin('db', 'migrate', ...place)).output).toMatch(
      kind === 'SQLite' ? /in use by process \d+/ : /^The tables are up to date/,
    );
    expect(await program.end('SIGTERM')).toBe(0);
    await expectUnused(...place);
    expect(await adminJson('quota', 'show', 'demo', ...place)).toMatchObject({ limits: { instances: 3 } });
  });

  it('print an error in one line, and exit with 1, or with 2 for invalid usage', async () => {
    const [db, key] = [await database(), join(folder, `${randomUUID()}.key`)];
    const place = ['--db', db, '--secret-key-file', key];
    const program = await start(...place);
    const cases: readonly [readonly string[], number, RegExp][] = [
      [['server', 'reset-state', randomUUID()], 1, /Instance \S+ could not be found/],
      [['service', 'disable', 'nowhere'], 1, /Could not find .* nowhere/],
      [['quota', 'set', 'demo', 'wishes=3'], 2, /'wishes=3' is not a limit: use NAME=N/],
      [['quota', 'set', 'demo'], 2, /quota set takes PROJECT NAME=N/],
      [['db', 'purge'], 2, /needs --older-than AGE/],
      [['db', 'purge', '--older-than', 'soon'], 2, /needs --older-than AGE/],
      [['db', 'restart'], 2, /'db restart' is not a command. Known commands: db check, db migrate,/],
      [['status', '--jsno'], 1, /--jsno/],
      [['quota', 'show', 'demo', '--secret-key-file', `${key}.lost`], 1, /the secret key \S+\.lost does not exist/],
    ];
    for (const [args, code, message] of cases) {
      const outcome = await admin(...place, ...args);
      expect([outcome.code, outcome.output.trim().split('\n')]).toEqual([code, [expect.stringMatching(message)]]);
    }
    expect(existsSync(`${key}.lost`)).toBe(false);
    expect((await sendRequest(program.url, 'GET', '/healthcheck')).status).toBe(200);
  });

  it('copy a database in use; a restored copy has its records, and its secrets with their key', async () => {
    const [db, other, key] = [await database(), await database(), join(folder, `${randomUUID()}.key`)];
    const image = join(folder, `${randomUUID()}.img`);
    writeFileSync(image, randomBytes(100_000));
    const quick = await start('--db', db, '--secret-key-file', key, '--image', image);
    const done = await boot(quick, 'done');
    await expectStatus(quick, done, 'ACTIVE');
    expect(await quick.end('SIGTERM')).toBe(0);
    // Jobs that start after this point are in progress until the test ends.
    const program = await start('--db', db, '--secret-key-file', key, '--latency-ms', '600000');
    const password = `planted-${randomUUID()}`;
    const underway = await boot(program, 'underway', { adminPass: password });
    const file = join(folder, `${randomUUID()}.backup`);
    const [report] = await Promise.all([
      adminJson('db', 'backup', file, '--db', db),
      ...Array.from({ length: 6 }, (_, n) => boot(program, `beside-${n}`)),
    ]);
    expect(report).toMatchObject({ file, bytes: statSync(file).size, tables: expect.stringMatching(/^\d{4}-/) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const written = readdirSync(folder).filter((name) => join(folder, name).startsWith(file));
    expect(written.map((name) => name.slice(36)).sort()).toEqual(
      kind === 'SQLite' ? ['.backup', '.backup.images'] : ['.backup'],
    );
    const again = await admin('db', 'backup', file, '--db', db);
    expect([again.code, again.output]).toEqual([1, `${file} already exists: choose another file\n`]);
    await program.end('SIGKILL');

    expect(await adminJson('db', 'restore', file, '--db', other)).toEqual({ previous: null, pending: [] });
    const checked = await admin('db', 'check', '--db', other, '--secret-key-file', key);
    expect(checked.output).toMatch(/good +secrets +all \d+ encrypted jobs can be decrypted with the key/);
    const otherKey = join(folder, `${randomUUID()}.key`);
    writeFileSync(otherKey, `${Buffer.alloc(32, 9).toString('base64')}\n`);
    const closed = await admin('db', 'check', '--db', other, '--secret-key-file', otherKey);
    expect([closed.code, closed.output]).toEqual([
      3,
      expect.stringMatching(/BAD +secrets +\d+ of \d+ jobs cannot be decrypted/),
    ]);

    const restored = await start('--db', other, '--secret-key-file', key);
    expect(await statusOf(restored, done)).toBe('ACTIVE');
    await expectStatus(restored, underway, 'ACTIVE');
    await expectStatus(restored, await boot(restored, 'new'), 'ACTIVE');
    expect(restored.output()).not.toContain(password);
    if (kind !== 'SQLite') return;
    // With SQLite, the content of an image is a separate file.
    expect(report.images).toBe(1);
    expect(readdirSync(`${other}.images`)).toEqual(readdirSync(`${db}.images`));
  });

  it('replace a database with a backup only with --replace, and never while a server uses it', async () => {
    const [db, key] = [await database(), join(folder, `${randomUUID()}.key`)];
    const place = ['--db', db, '--secret-key-file', key];
    const program = await start(...place);
    const first = await boot(program, 'first');
    await expectStatus(program, first, 'ACTIVE');
    const file = join(folder, `${randomUUID()}.backup`);
    await adminJson('db', 'backup', file, ...place);
    const second = await boot(program, 'second');
    await expectStatus(program, second, 'ACTIVE');
    const rejected = await admin('db', 'restore', file, '--replace', ...place);
    expect([rejected.code, rejected.output]).toEqual([
      1,
      expect.stringMatching(/in use by process|is in use \(.* stop the servers/),
    ]);
    expect(await program.end('SIGTERM')).toBe(0);
    await expectUnused(...place);
    const there = await admin('db', 'restore', file, ...place);
    expect([there.code, there.output]).toEqual([1, expect.stringMatching(/--replace/)]);
    const corrupt = join(folder, `${randomUUID()}.backup`);
    writeFileSync(corrupt, 'a letter to my grandmother'.repeat(200));
    expect(await admin('db', 'restore', corrupt, '--replace', ...place)).toMatchObject({ code: 1 });
    expect((await adminJson('status', ...place)).servers).toEqual({ active: 2 });

    const { previous } = await adminJson('db', 'restore', file, '--replace', ...place);
    expect((await adminJson('status', ...place)).servers).toEqual({ active: 1 });
    const former = kind === 'SQLite' ? previous : db.replace(/[^/]*$/, previous);
    expect((await adminJson('status', '--db', former)).servers).toEqual({ active: 2 });
    const restored = await start(...place);
    expect([await statusOf(restored, first), await statusOf(restored, second)]).toEqual(['ACTIVE', 'gone']);
  });

  it('report a missing database or key, and find no problem in a valid database', async () => {
    const db = await database();
    const key = join(folder, `${randomUUID()}.key`);
    if (kind === 'SQLite') expect((await admin('status', '--db', db)).output).toMatch(/the database .* does not exist/);
    else expect(await admin('db', 'check', '--db', db, '--secret-key-file', IMAGE)).toMatchObject({ code: 1 });
    const program = await start('--db', db, '--secret-key-file', key);
    const valid = await admin('db', 'check', '--db', db, '--secret-key-file', key);
    expect([valid.code, valid.output.match(/^good/gm)?.length]).toEqual([0, 5]);
    await program.end('SIGTERM');
  });

  it.runIf(kind === 'SQLite')('report a damaged database, and a missing folder of a target', async () => {
    const db = await database();
    const key = join(folder, `${randomUUID()}.key`);
    const program = await start('--db', db, '--secret-key-file', key);
    await program.end('SIGTERM');
    const broken = join(folder, `${randomUUID()}.db`);
    copyFileSync(db, broken);
    copyFileSync(key, `${broken}.key`);
    const { size } = statSync(broken);
    const { openSync, writeSync, closeSync } = await import('node:fs');
    const handle = openSync(broken, 'r+');
    for (let at = 8192; at < size; at += 4096) writeSync(handle, Buffer.alloc(512, 0x5a), 0, 512, at);
    closeSync(handle);
    const reported = await admin('db', 'check', '--db', broken);
    expect(reported.code).toBeGreaterThan(0);
    expect(reported.output).toMatch(/damaged|cannot be used/);
    const restored = await admin('db', 'restore', broken, '--db', join(folder, `${randomUUID()}.db`));
    expect([restored.code, restored.output]).toEqual([1, expect.stringMatching(/ is damaged: /)]);
    const missing = await admin('db', 'restore', db, '--db', join(folder, 'missing', 'cloud.db'));
    expect(missing).toEqual({ code: 1, output: expect.stringMatching(/cannot be written \(ENOENT.*writable folder/) });
  });

  it.runIf(kind === 'SQLite')('report the tables of a damaged backup, and files that are not a database', async () => {
    const file = join(folder, `${randomUUID()}.db`);
    const database = new DatabaseSync(file);
    database.exec(`create table flavours (id integer primary key, text text);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
      insert into flavours select i, hex(randomblob(400)) from n`);
    const page = Number(database.prepare("select rootpage from sqlite_schema where name = 'flavours'").get()?.rootpage);
    database.close();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
    writeFileSync(file, bytes);
    const target = ['--db', join(folder, `${randomUUID()}.db`)];
    expect((await admin('db', 'restore', file, ...target)).output).toMatch(/ is damaged: flavours page \d+: /);
    writeFileSync(file, 'a text');
    expect((await admin('db', 'restore', file, ...target)).output).toMatch(/ is not a SQLite database: /);
  });
});

it('the help names every command, and a missing command is an error', async () => {
  const { code, output } = await admin('--help');
  expect(code).toBe(0);
  for (const name of [
    'status',
    'db migrate',
    'db check',
    'db backup FILE',
    'db restore FILE',
    'db purge',
    'quota show',
    'quota set',
    'service list',
    'service enable HOST',
    'service disable HOST',
    'server reset-state',
    'webhook failures',
    'webhook retry',
  ])
    expect(output).toContain(`  ${name}`);
  expect(await admin()).toMatchObject({ code: 2 });
  expect(await runProgram(['admin', 'db', 'restart'])).toEqual({
    code: 2,
    output: expect.stringMatching(/^'db restart' is not a command. Known commands: [^\n]*\n$/),
  });
  expect(await runProgram(['--', 'admin', 'status', '--db', join(folder, 'none.db'), '--json'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/the database .* does not exist/),
  });
});
