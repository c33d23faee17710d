import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ImageCache } from '../src/images/image-cache.js';

const QEMU_IMG = '/usr/bin/qemu-img';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-cache-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ada = { userId: 'ada', projectId: 'p-ada', roles: [] };
const signal = new AbortController().signal;

/** A cache in front of an image service with these images. */
function cacheOf(
  images: Readonly<Record<string, { readonly diskFormat: string; readonly content: Buffer }>>,
  maxBytes?: number,
) {
  const service = {
    get: async (_caller: unknown, id: string) => ({ ...images[id], id, checksum: null, properties: {} }),
    download: async (_caller: unknown, id: string) => [images[id]?.content],
  };
  const own = mkdtempSync(join(folder, 'cache-'));
  return new ImageCache({
    folder: own,
    shared: false,
    images: service as never,
    qemuImg: QEMU_IMG,
    runAs: undefined,
    maxBytes,
  });
}

describe.skipIf(!existsSync(QEMU_IMG))('the images that machines lean on', () => {
  const disk = Buffer.alloc(2 ** 20, 'disk');
  const raw = join(folder, 'disk.raw');
  const qcow2 = join(folder, 'disk.qcow2');
  writeFileSync(raw, disk);
  if (existsSync(QEMU_IMG)) execFileSync(QEMU_IMG, ['convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2]);

  it('are the disk that an image is, also when its bytes were uploaded as raw before', async () => {
    const content = readFileSync(qcow2);
    const cache = cacheOf({ raw: { diskFormat: 'raw', content }, qcow2: { diskFormat: 'qcow2', content } });
    await expect(cache.fetch(ada, 'raw', 0, signal)).rejects.toMatchObject({ code: 'IMAGE_REFUSED' });
    expect(readFileSync(await cache.fetch(ada, 'qcow2', 0, signal)).equals(disk)).toBe(true);
    await expect(cache.fetch(ada, 'raw', 0, signal)).rejects.toMatchObject({ code: 'IMAGE_REFUSED' });
  });

  it.each(['qcow2', 'vmdk', 'vhdx'])('are made of %s', async (format) => {
    const path = join(folder, `disk.${format}`);
    execFileSync(QEMU_IMG, ['convert', '-f', 'raw', '-O', format, raw, path]);
    const cache = cacheOf({ image: { diskFormat: format, content: readFileSync(path) } });
    const made = readFileSync(await cache.fetch(ada, 'image', 0, signal));
    expect(made.subarray(0, disk.length).equals(disk)).toBe(true);
    await expect(
      cacheOf({ image: { diskFormat: format, content: readFileSync(path) } }).fetch(ada, 'image', 1000, signal),
    ).rejects.toThrow('the image is a disk of');
  });

  it('are refused when random bytes are said to be of a format', async () => {
    for (const diskFormat of ['qcow2', 'vmdk', 'vhdx']) {
      const cache = cacheOf({ image: { diskFormat, content: randomBytes(4096) } });
      await expect(cache.fetch(ada, 'image', 0, signal)).rejects.toThrow(
        `said to be ${diskFormat}, and its bytes are not`,
      );
    }
  });

  it('are removed, the least recently used first, when they take more than the limit', async () => {
    const image = (fill: string) => ({ diskFormat: 'raw', content: Buffer.alloc(2 ** 20, fill) });
    const cache = cacheOf({ old: image('a'), used: image('b'), new: image('c') }, 2.5 * 2 ** 20);
    const target = join(folder, 'of-a-machine');
    await cache.put(ada, 'old', target, 0, signal);
    const paths = [await cache.fetch(ada, 'old', 0, signal), await cache.fetch(ada, 'used', 0, signal)];
    const hour = 3_600_000;
    utimesSync(paths[0]!, new Date(), new Date(Date.now() - 2 * hour));
    utimesSync(paths[1]!, new Date(), new Date(Date.now() - hour));
    paths.push(await cache.fetch(ada, 'new', 0, signal));
    expect(paths.map((path) => existsSync(path))).toEqual([false, true, true]);
    expect(readdirSync(dirname(paths[2]!))).toHaveLength(4);
    // The machine keeps what it leans on.
    expect(readFileSync(target).equals(image('a').content)).toBe(true);
  });
});
