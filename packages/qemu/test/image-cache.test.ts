import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ImageCache } from '../src/images/image-cache.js';

const QEMU_IMG = '/usr/bin/qemu-img';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-cache-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ada = { userId: 'ada', projectId: 'p-ada', roles: [] };
const signal = new AbortController().signal;

/** A cache in front of an image service with these images. */
function cacheOf(images: Readonly<Record<string, { readonly diskFormat: string; readonly content: Buffer }>>) {
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
  });
}

describe.skipIf(!existsSync(QEMU_IMG))('the images that machines lean on', () => {
  const disk = Buffer.alloc(2 ** 20, 'disk');
  const raw = join(folder, 'disk.raw');
  const qcow2 = join(folder, 'disk.qcow2');
  writeFileSync(raw, disk);
  if (existsSync(QEMU_IMG)) execFileSync(QEMU_IMG, ['convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2]);

  it.each([
    ['raw', 'qcow2'],
    ['qcow2', 'raw'],
  ])('are one file for each format: bytes that were first used as %s are no other disk as %s', async (...formats) => {
    const content = existsSync(qcow2) ? readFileSync(qcow2) : Buffer.alloc(0);
    const expected = { raw: content, qcow2: disk };
    const cache = cacheOf(Object.fromEntries(formats.map((format) => [format, { diskFormat: format, content }])));
    for (const format of formats) {
      const path = await cache.fetch(ada, format, 0, signal);
      expect(readFileSync(path).equals(expected[format as 'raw' | 'qcow2'])).toBe(true);
    }
  });
});
