import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.js';
import { openStore } from '../open-store.js';
import { tables } from '../tables.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let number = 0;
const freshFile = () => join(folder, `cloud-${number++}.db`);
const keypair = (name: string) =>
  ({ userId: 'ada', name, type: 'ssh', publicKey: 'k', fingerprint: 'aa', createdAt: 1 }) as const;
const add = (store: Store, name: string) => store.transaction((tx) => tables.keypairs.insert(tx, keypair(name)));

const opened = new Set<Store>();
async function open(file: string, options: Parameters<typeof openStore>[1] = {}): Promise<Store> {
  const store = await openStore(file, options);
  opened.add(store);
  return store;
}
afterEach(async () => {
  for (const store of opened) await store.close().catch(() => {});
  opened.clear();
});

/**
 * Starts another process that opens the file with the built package, prints the result, and keeps the file open until
 * it is killed.
 */
function lockInChild(file: string): { child: ChildProcess; output: Promise<string> } {
  const code = `import { openStore } from './dist/index.js';
    // Kept, or the garbage collector closes it and gives the file to others.
    openStore(process.argv[1], {}).then((store) => { console.log('open'); setInterval(() => store, 1000); },
      (error) => console.log(error.code + ': ' + error.message));`;
  const args = ['--input-type=module', '-e', code, file];
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = new Promise<string>((resolve) => child.stdout!.once('data', (text) => resolve(String(text).trim())));
  return { child, output };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

describe('the owner of a SQLite file', () => {
  it('is one engine in one process at a time, regardless of the path to the file', async () => {
    const file = freshFile();
    const first = await open(file);
    await expect(open(file)).rejects.toMatchObject({
      code: 'DATABASE_IN_USE',
      message: expect.stringContaining('in use by this process'),
    });
    await expect(open(join(folder, '.', file.slice(folder.length)))).rejects.toMatchObject({ code: 'DATABASE_IN_USE' });
    await add(first, 'k1');
    await first.close();
    expect(await tables.keypairs.count(await open(file))).toBe(1);
  });

  it('is named in the error, and loses the file as soon as it is killed', async () => {
    const file = freshFile();
    const { child, output } = lockInChild(file);
    try {
      expect(await output).toBe('open');
      await expect(open(file)).rejects.toMatchObject({
        code: 'DATABASE_IN_USE',
        message: expect.stringMatching(
          `${file} is in use by process ${child.pid} on \\S+, since 2\\S+\\. A SQLite file`,
        ),
      });
    } finally {
      await kill(child);
    }
    await add(await open(file), 'k1');
  });

  it('is exactly one of many concurrent processes; the others get an error', async () => {
    const file = freshFile();
    const all = Array.from({ length: 5 }, () => lockInChild(file));
    try {
      const outputs = await Promise.all(all.map(({ output }) => output));
      expect(outputs.filter((text) => text === 'open')).toHaveLength(1);
      for (const text of outputs.filter((text) => text !== 'open'))
        expect(text).toMatch(/^DATABASE_IN_USE: .* is in use by /);
    } finally {
      await Promise.all(all.map(({ child }) => kill(child)));
    }
  });

  it('does not prevent other programs from reading', async () => {
    const file = freshFile();
    await add(await open(file), 'k1');
    const reader = new DatabaseSync(file, { readOnly: true });
    await backup(reader, `${file}.copy`);
    reader.close();
    expect(await tables.keypairs.count(await open(`${file}.copy`))).toBe(1);
  });
});

describe('a failure of a SQLite file', () => {
  const failure = (kind: string) => ({ code: 'DATABASE_UNAVAILABLE', status: 503, failure: kind });

  it.each([
    ['the database is removed', (file: string) => rmSync(file)],
    [
      'another one takes its place',
      (file: string) => {
        copyFileSync(file, `${file}.2`);
        renameSync(`${file}.2`, file);
      },
    ],
    ['its log is removed', (file: string) => rmSync(`${file}-wal`)],
  ])('is reported, and nothing is acknowledged, when %s', async (_, damage) => {
    const file = freshFile();
    const store = await open(file);
    await add(store, 'k1');
    damage(file);
    await expect(add(store, 'k2')).rejects.toMatchObject(failure('replaced'));
    await expect(store.check()).rejects.toMatchObject(failure('replaced'));
    const together = await Promise.allSettled([add(store, 'k3'), add(store, 'k4'), add(store, 'k5')]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    // Reading still works: the open files are unchanged.
    expect(await tables.keypairs.count(store, (q) => q.where('name', '=', 'k1'))).toBe(1);
  });

  it('ends when the file is restored', async () => {
    const file = freshFile();
    const store = await open(file);
    await add(store, 'k1');
    renameSync(file, `${file}.away`);
    await expect(store.check()).rejects.toMatchObject(failure('replaced'));
    renameSync(`${file}.away`, file);
    await add(store, 'k2');
  });

  it('is reported when another program keeps it locked, without blocking readers or the process', async () => {
    const file = freshFile();
    const store = await open(file, { lockTimeoutMs: 300 });
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const writing = expect(add(store, 'k1')).rejects.toMatchObject(failure('busy'));
    expect(await tables.keypairs.count(store)).toBe(0);
    await writing;
    const patient = add(store, 'k2');
    other.exec('ROLLBACK');
    await patient;
    other.close();
  });

  it('is reported when the disk is full, to all members of a shared commit, and is temporary', async () => {
    const store = await open(freshFile());
    await sql`pragma max_page_count = 1`.execute(store.db);
    const large = (name: string) =>
      store.transaction((tx) => tables.keypairs.insert(tx, { ...keypair(name), publicKey: 'x'.repeat(3_000_000) }));
    const results = await Promise.allSettled([large('a'), add(store, 'b'), large('c'), add(store, 'd')]);
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(failed.length).toBeGreaterThanOrEqual(2);
    for (const error of failed) expect(error).toMatchObject(failure('full'));
    await sql`pragma max_page_count = 1000000`.execute(store.db);
    await large('e');
    const retained = (await tables.keypairs.find(store)).map(({ name }) => name).sort();
    const acknowledged = ['a', 'b', 'c', 'd'].filter((_, index) => results[index]!.status === 'fulfilled');
    expect(retained).toEqual([...acknowledged, 'e']);
  });

  it('is reported when the file is read-only', async () => {
    const store = await open(freshFile());
    await sql`pragma query_only = 1`.execute(store.db);
    await expect(add(store, 'k1')).rejects.toMatchObject(failure('read-only'));
    await expect(store.check()).rejects.toMatchObject(failure('read-only'));
  });
});
