import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { type EmbeddedImageCatalog, embeddedImages } from '../../src/image/builtin/embedded-images.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };

async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha512');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}

/** Yields chunks of one mebibyte, which are created on demand. */
async function* pieces(count: number, broken?: Error): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(2 ** 20, n);
  if (broken) throw broken;
}

describe.each(storesUnderTest(inject('postgresUrl')))('images with content in files, on $kind', ({ open }) => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-images-'));
  const directory = join(folder, 'images');
  let store: Store;
  let close: () => Promise<void>;
  let images: EmbeddedImageCatalog;

  beforeAll(async () => {
    ({ store, close } = await open());
    images = embeddedImages({ store, directory });
  });
  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = (catalog = images) => catalog.create(ada, { id: randomUUID(), name: 'mine' });
  const files = () => (existsSync(directory) ? readdirSync(directory) : []);

  it('accepts content even if old files in the folder cannot be removed', async () => {
    mkdirSync(join(directory, 'left.part'), { recursive: true });
    utimesSync(join(directory, 'left.part'), 0, 0);
    const catalog = embeddedImages({ store, directory });
    const { id } = await create(catalog);
    expect((await catalog.upload(ada, id, pieces(1))).status).toBe('active');
    await catalog.delete(ada, id);
    rmSync(join(directory, 'left.part'), { recursive: true });
  });

  it('streams content in and out, limited only by the disk, and removes it with the image', async () => {
    const { id } = await create();
    const uploaded = await images.upload(ada, id, pieces(300));
    expect(uploaded).toMatchObject({ status: 'active', sizeBytes: 300 * 2 ** 20 });
    expect(uploaded.sha512).toBe(await digestOf(pieces(300)));
    expect(await digestOf(await images.download(ada, id))).toBe(uploaded.sha512);
    expect(files()).toHaveLength(1);
    await images.delete(ada, id);
    expect(files()).toEqual([]);
  });

  it('removes incomplete uploads of a killed process on its first upload', async () => {
    const own = join(folder, 'left');
    mkdirSync(own);
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const name of ['old.part', 'new.part']) writeFileSync(join(own, name), 'half');
    utimesSync(join(own, 'old.part'), longAgo, longAgo);
    const catalog = embeddedImages({ store, directory: own });
    const { id } = await create(catalog);
    await catalog.upload(ada, id, pieces(1));
    expect(readdirSync(own)).toContain('new.part');
    expect(readdirSync(own)).not.toContain('old.part');
    await catalog.delete(ada, id);
  });

  it('keeps nothing of an interrupted upload', async () => {
    const { id } = await create();
    await expect(images.upload(ada, id, pieces(2, new Error('hung up')))).rejects.toThrow('hung up');
    expect(files()).toEqual([]);
    expect(await images.get(ada, id)).toMatchObject({ status: 'queued' });
  });

  it('keeps one of two concurrent uploads', async () => {
    const { id } = await create();
    await Promise.all([images.upload(ada, id, pieces(2)), images.upload(ada, id, pieces(3))]);
    const { sha512 } = await images.get(ada, id);
    expect(await digestOf(await images.download(ada, id))).toBe(sha512);
    expect(files()).toHaveLength(1);
    await images.delete(ada, id);
  });

  it('reports that content cannot be stored if the folder is not writable', async () => {
    writeFileSync(join(folder, 'file'), '');
    const blocked = embeddedImages({ store, directory: join(folder, 'file', 'images') });
    const { id } = await create(blocked);
    await expect(blocked.upload(ada, id, pieces(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await images.get(ada, id)).toMatchObject({ status: 'queued' });
  });

  it('still reads content that was previously stored in the database', async () => {
    const before = embeddedImages({ store });
    const { id } = await create(before);
    await before.upload(ada, id, Buffer.from('old'));
    expect(await digestOf(await images.download(ada, id))).toBe((await images.get(ada, id)).sha512);
    await images.delete(ada, id);
    expect(await store.db.selectFrom('image_chunks').selectAll().where('image_id', '=', id).execute()).toEqual([]);
  });

  it('seeds content from a stream once', async () => {
    const id = randomUUID();
    let read = 0;
    const content = () => {
      read++;
      return pieces(2);
    };
    await images.seed([{ id, name: 'seeded', content }]);
    await images.seed([{ id, name: 'seeded', content }]);
    expect(read).toBe(1);
    expect(await images.get(ada, id)).toMatchObject({ status: 'active', sizeBytes: 2 * 2 ** 20 });
  });
});
