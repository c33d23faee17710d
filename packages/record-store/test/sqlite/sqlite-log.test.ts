import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import type { Store } from '../../src/store/store.js';
import { openStore } from '../open-store.js';
import { tables } from '../tables.js';

const keypair = (name: string) =>
  ({ userId: 'ada', name, type: 'ssh', publicKey: 'k', fingerprint: 'aa', createdAt: 1 }) as const;
const add = (store: Store, name: string) => store.transaction((tx) => tables.keypairs.insert(tx, keypair(name)));
const names = async (store: Store) => (await tables.keypairs.find(store)).map(({ name }) => name).sort();

describe('a commit to a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-log-'));
  let files: FileHandle;
  let syncs: MockInstance<FileHandle['datasync']>;
  let store: Store;

  beforeAll(async () => {
    const handle = await openFile(join(folder, 'any'), 'w');
    files = Object.getPrototypeOf(handle);
    await handle.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    syncs = vi.spyOn(files, 'datasync');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
  });

  let number = 0;
  async function open(options: Parameters<typeof openStore>[1] = {}): Promise<void> {
    store = await openStore(join(folder, `${number++}.db`), options);
    syncs.mockClear();
  }

  /** Blocks the disk until the returned function is called. */
  function slowDisk(): () => void {
    let proceed = () => {};
    syncs.mockReturnValue(
      new Promise((resolve) => {
        proceed = resolve;
      }),
    );
    return proceed;
  }

  it('waits for the disk, once for all concurrent commits', async () => {
    await open();
    await add(store, 'a');
    expect(syncs).toHaveBeenCalledTimes(1);
    await Promise.all(['b', 'c', 'd'].map((name) => add(store, name)));
    expect(syncs).toHaveBeenCalledTimes(2);
  });

  it('also waits for the disk outside of transactions, but not if nothing was written', async () => {
    await open();
    await names(store);
    await store.transaction((tx) => tables.keypairs.find(tx));
    await expect(
      store.transaction(async (tx) => {
        await tables.keypairs.insert(tx, keypair('undone'));
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    expect(syncs).not.toHaveBeenCalled();
    await store.db.deleteFrom('keypairs').execute();
    expect(syncs).toHaveBeenCalledTimes(1);
  });

  it('does not wait if it must survive only the end of the process', async () => {
    await open({ durability: 'process' });
    await add(store, 'a');
    expect(syncs).not.toHaveBeenCalled();
    await expect(openStore(join(folder, 'never.db'), { durability: 'never' as never })).rejects.toThrow(
      "durability is 'never': it must be 'disk' or 'process'",
    );
  });

  it('lets others read in the meantime, and shares the wait with concurrent writers', async () => {
    await open();
    const proceed = slowDisk();
    const committed: string[] = [];
    const added = [add(store, 'a').then(() => committed.push('a'))];
    await eventually(async () => expect(syncs).toHaveBeenCalledTimes(1));
    expect(await names(store)).toEqual(['a']);
    for (const name of ['b', 'c', 'd']) added.push(add(store, name).then(() => committed.push(name)));
    expect(await names(store)).toEqual(['a']);
    expect(committed).toEqual([]);
    proceed();
    await Promise.all(added);
    expect(committed.sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(syncs).toHaveBeenCalledTimes(2);
  });

  it('fails when the disk fails, and permanently afterwards', async () => {
    await open();
    await add(store, 'a');
    syncs.mockRejectedValueOnce(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    const failedDatabase = { code: 'DATABASE_UNAVAILABLE', failure: 'failed' };
    await expect(add(store, 'b')).rejects.toMatchObject(failedDatabase);
    await expect(add(store, 'c')).rejects.toMatchObject(failedDatabase);
    await expect(store.check()).rejects.toMatchObject(failedDatabase);
    expect(await names(store)).toContain('a');
  });

  it('does not leave syncs to SQLite itself', async () => {
    await open();
    const NORMAL = 1;
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(store.db);
    expect(rows).toEqual([{ synchronous: NORMAL }]);
  });
});
