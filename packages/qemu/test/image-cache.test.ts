import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ImageCache } from '../src/images/image-cache.js';

const QEMU_IMG = '/usr/bin/qemu-img';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-cache-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ada = { userId: 'ada', projectId: 'p-ada', roles: [] };
const signal = new AbortController().signal;

/** Creates an image cache for an image service that contains the given images. */
function cacheOf(
  images: Readonly<Record<string, { readonly diskFormat: string; readonly content: Buffer }>>,
  maxBytes?: number,
  qemuImg = QEMU_IMG,
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
    qemuImg,
    runAs: undefined,
    maxBytes,
  });
}

describe.skipIf(!existsSync(QEMU_IMG))('the base images of machines', () => {
  const disk = Buffer.alloc(2 ** 20, 'disk');
  const raw = join(folder, 'disk.raw');
  const qcow2 = join(folder, 'disk.qcow2');
  writeFileSync(raw, disk);
  if (existsSync(QEMU_IMG)) execFileSync(QEMU_IMG, ['convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2]);

  it('contain the disk of a qcow2 image, even if another image declared the same bytes as raw before', async () => {
    const content = readFileSync(qcow2);
    const cache = cacheOf({ raw: { diskFormat: 'raw', content }, qcow2: { diskFormat: 'qcow2', content } });
    await expect(cache.fetchImage(ada, 'raw', 0, signal)).rejects.toMatchObject({ code: 'IMAGE_REJECTED' });
    expect(readFileSync(await cache.fetchImage(ada, 'qcow2', 0, signal)).equals(disk)).toBe(true);
    await expect(cache.fetchImage(ada, 'raw', 0, signal)).rejects.toMatchObject({ code: 'IMAGE_REJECTED' });
  });

  it.each(['qcow2', 'vmdk', 'vhdx'])('are created from %s', async (format) => {
    const path = join(folder, `disk.${format}`);
    execFileSync(QEMU_IMG, ['convert', '-f', 'raw', '-O', format, raw, path]);
    const cache = cacheOf({ image: { diskFormat: format, content: readFileSync(path) } });
    const fetched = readFileSync(await cache.fetchImage(ada, 'image', 0, signal));
    expect(fetched.subarray(0, disk.length).equals(disk)).toBe(true);
    await expect(
      cacheOf({ image: { diskFormat: format, content: readFileSync(path) } }).fetchImage(ada, 'image', 1000, signal),
    ).rejects.toThrow('the image contains a disk of');
  });

  it('share one file if images with the same bytes are downloaded concurrently', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `image-${index}`);
    const cache = cacheOf(Object.fromEntries(ids.map((id) => [id, { diskFormat: 'raw', content: disk }])));
    const paths = await Promise.all(ids.map((id) => cache.fetchImage(ada, id, 0, signal)));
    expect(new Set(paths.map((path) => statSync(path).ino)).size).toBe(1);
    expect(readdirSync(dirname(paths[0] as string)).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('are rejected if random bytes are declared to have a format', async () => {
    for (const diskFormat of ['qcow2', 'vmdk', 'vhdx']) {
      const cache = cacheOf({ image: { diskFormat, content: randomBytes(4096) } });
      await expect(cache.fetchImage(ada, 'image', 0, signal)).rejects.toThrow(
        `declares ${diskFormat}, but its content is in another format`,
      );
    }
  });

  it.skipIf(!existsSync('/usr/bin/prlimit'))('are converted with limits on memory, time and output', async () => {
    const [program, limits] = [join(folder, 'qemu-img'), join(folder, 'limits')];
    const report = `[ "$1" = convert ] && (ulimit -v; ulimit -t; ulimit -f) > ${limits}`;
    writeFileSync(program, `#!/bin/bash\n${report}\nexec ${QEMU_IMG} "$@"\n`, { mode: 0o755 });
    const cache = cacheOf({ image: { diskFormat: 'qcow2', content: readFileSync(qcow2) } }, undefined, program);
    await cache.fetchImage(ada, 'image', 2 ** 30, signal);
    // The limits: KiB of memory, seconds of CPU time, and KiB of output.
    expect(readFileSync(limits, 'utf8').trim().split('\n').map(Number)).toEqual([4 * 2 ** 20, 600, 2 ** 20]);
  });

  it('are removed, least recently used first, above the size limit', async () => {
    const image = (fill: string) => ({ diskFormat: 'raw', content: Buffer.alloc(2 ** 20, fill) });
    const cache = cacheOf({ old: image('a'), used: image('b'), new: image('c') }, 2.5 * 2 ** 20);
    const target = join(folder, 'of-a-machine');
    await cache.linkImage(ada, 'old', target, 0, signal);
    const paths = [await cache.fetchImage(ada, 'old', 0, signal), await cache.fetchImage(ada, 'used', 0, signal)];
    const hour = 3_600_000;
    utimesSync(paths[0]!, new Date(), new Date(Date.now() - 2 * hour));
    utimesSync(paths[1]!, new Date(), new Date(Date.now() - hour));
    paths.push(await cache.fetchImage(ada, 'new', 0, signal));
    expect(paths.map((path) => existsSync(path))).toEqual([false, true, true]);
    expect(readdirSync(dirname(paths[2]!))).toHaveLength(4);
    // The machine keeps its backing file.
    expect(readFileSync(target).equals(image('a').content)).toBe(true);
  });
});
