import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import type { DriverWork } from '../src/drivers/driver.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { generateSecretKey } from '../src/secrets/sealer.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const secret = (kind: string) => `planted-${kind}-${randomUUID()}`;

/** Returns the strings that occur in files of the folder. */
async function inFiles(folder: string, texts: readonly string[]): Promise<readonly string[]> {
  const contents = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return texts.filter((text) => contents.some((content) => content.includes(text)));
}

const POSTGRES_FILES = `
  select pg_relation_filepath(oid) as path from pg_class
  where oid in (select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')
     or oid in (select reltoastrelid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')
  union all select 'pg_wal/' || name from pg_ls_waldir()
  where name between $1 and pg_walfile_name(pg_current_wal_lsn())`;

const TEXTS_IN_FILE = `
  with file as materialized (select pg_read_binary_file($1, 0, 100000000, true) as content)
  select convert_from(wanted, 'utf8') as text from file, unnest($2::bytea[]) as wanted where position(wanted in content) > 0`;

/**
 * Returns the strings that occur in the files of PostgreSQL's tables, or in its write-ahead log from a given file on.
 */
async function inPostgres(url: string, texts: readonly string[], since: string): Promise<readonly string[]> {
  const expected = texts.map((text) => Buffer.from(text));
  return withClient(url, async (client) => {
    await client.query('checkpoint');
    const found = new Set<string>();
    for (const { path } of (await client.query(POSTGRES_FILES, [since])).rows)
      for (const { text } of (await client.query(TEXTS_IN_FILE, [path, expected])).rows) found.add(text);
    return [...found];
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const firstLog = (url: string) =>
  withClient(
    url,
    async (client) => (await client.query('select pg_walfile_name(pg_current_wal_lsn()) as name')).rows[0].name,
  );

describe.each(storesUnderTest(inject('postgresUrl')))('secrets, on $kind,', ({ kind, open }) => {
  let folder: string;
  let url: string;
  let since = '';
  const engines: Engine[] = [];
  const done: DriverWork[] = [];
  const secretKey = generateSecretKey();

  beforeEach(async () => {
    const opened = await open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-secrets-'));
    url = kind === 'SQLite' ? join(folder, 'engine.db') : opened.url;
    if (kind === 'PostgreSQL') since = await firstLog(url);
    done.length = 0;
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    await rm(folder, { recursive: true });
  });

  const found = (texts: readonly string[]) =>
    kind === 'SQLite' ? inFiles(folder, texts) : inPostgres(url, texts, since);

  /** @param options.worker if false, jobs are stored but not executed, as before a crash */
  async function start(options: { readonly worker: boolean; readonly secretKey?: string }): Promise<Engine> {
    const driver = new SimulatedDriver({ clock: systemClock });
    const perform = driver.perform.bind(driver);
    driver.perform = async (work, ...others) => {
      done.push(work);
      return perform(work, ...others);
    };
    const engine = await engineUnderTest({
      database: url,
      secretKey: options.secretKey ?? secretKey,
      driver,
      worker: options.worker ? { pollMs: 10, retryMs: 10 } : false,
      onError: () => {},
    });
    engines.push(engine);
    return engine;
  }

  async function stop(): Promise<void> {
    for (const engine of engines.splice(0)) await engine.close();
  }

  it('of every action are not stored in plain text, but reach the machine', { timeout: 180_000 }, async () => {
    const secrets: string[] = [];
    const plant = (what: string) => {
      const text = secret(what);
      secrets.push(text);
      return text;
    };
    const context = () => {
      const { caller, ...known } = contextOf('p1', { isAdmin: true });
      return { ...known, caller: { ...caller, token: plant('token') } };
    };
    const file = () => ({ path: '/etc/motd', contents: Buffer.from(plant('file')).toString('base64') });
    let id = '';
    const actions: readonly ((engine: Engine) => Promise<unknown>)[] = [
      async (engine) => {
        const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
        const { servers } = await engine.servers.create(context(), {
          ...newServer,
          adminPassword: plant('password'),
          files: [file()],
        });
        id = servers[0]!.id;
      },
      (engine) => engine.servers.act(context(), id, 'changePassword', { adminPassword: plant('password') }),
      (engine) =>
        engine.servers.act(context(), id, 'rebuild', {
          imageId,
          adminPassword: plant('password'),
          files: [file()],
        } as never),
      (engine) =>
        engine.servers.act(context(), id, 'rescue', { adminPassword: plant('password'), mayBeVolumeBacked: false }),
      (engine) => engine.servers.act(context(), id, 'unrescue'),
      (engine) => engine.servers.delete(context(), id),
    ];
    for (const action of actions) {
      const before = await start({ worker: false });
      await action(before);
      expect(await coreOf(before).worker.pending()).toBe(1);
      const encoded = secrets.flatMap((text) => [text, Buffer.from(text).toString('base64')]);
      expect(await found(encoded)).toEqual([]);
      await stop();
      const after = await start({ worker: true });
      await expect.poll(() => coreOf(after).worker.pending()).toBe(0);
      expect((await after.servers.get(context(), id, { deleted: true })).fault).toBeNull();
      expect(await found(encoded)).toEqual([]);
      await stop();
    }
    // The search is able to find a string that exists.
    expect(await found([id])).toEqual([id]);
    const notified = JSON.stringify(done);
    const passwords = secrets.filter((text) => text.startsWith('planted-password'));
    expect(passwords).toHaveLength(4);
    expect(passwords.filter((text) => !notified.includes(text))).toEqual([]);
  });

  it('whose key is lost set their server to ERROR, which can then be deleted', async () => {
    const context = contextOf('p1');
    const before = await start({ worker: false });
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const { id } = (await before.servers.create(context, newServer)).servers[0]!;
    await stop();
    const after = await start({ worker: true, secretKey: generateSecretKey() });
    await expect.poll(() => coreOf(after).worker.pending()).toBe(0);
    expect(await after.servers.get(context, id)).toMatchObject({
      vmState: 'error',
      taskState: null,
      fault: { message: expect.stringContaining('which this process does not have (secretKey, secretKeyFile)') },
    });
    expect((await after.instanceActions.list(id))[0]).toMatchObject({ action: 'create', message: 'Error' });
    await after.servers.delete(context, id);
    await expect.poll(() => coreOf(after).worker.pending()).toBe(0);
    expect((await after.servers.get(context, id, { deleted: true })).deleted).toBe(true);
  });
});
