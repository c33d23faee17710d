import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkImageFile, imageFileFormat } from './check-image-file.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The header of a qcow2 file of a gibibyte. */
function qcow2({ version = 3, backing = 0n, incompatible = 0n } = {}): string {
  const header = Buffer.alloc(512);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeBigUInt64BE(backing, 8);
  header.writeBigUInt64BE(2n ** 30n, 24);
  header.writeBigUInt64BE(incompatible, 72);
  const path = join(folder, 'image');
  writeFileSync(path, header);
  return path;
}

describe('an image file that somebody has uploaded', () => {
  it('is as large as its header says', async () => {
    expect(await checkImageFile(qcow2(), 'qcow2')).toBe(2 ** 30);
    expect(await checkImageFile(qcow2({ version: 2 }), 'qcow2')).toBe(2 ** 30);
    expect(await checkImageFile(qcow2(), 'raw')).toBe(512);
  });

  it.each([
    ['with a backing file', { backing: 200n }, 'a backing file'],
    ['of version 2 with a backing file', { version: 2, backing: 200n }, 'a backing file'],
    ['with its data in another file', { incompatible: 4n }, 'in another file'],
    ['of a version that nobody knows', { version: 4 }, 'is not'],
  ])('is refused %s', async (_, header, why) => {
    await expect(checkImageFile(qcow2(header), 'qcow2')).rejects.toMatchObject({
      code: 'IMAGE_REFUSED',
      message: expect.stringContaining(why),
    });
  });

  it('is refused when it is no qcow2 file, however short', async () => {
    for (const content of ['', 'QFI', 'x'.repeat(600)]) {
      writeFileSync(join(folder, 'other'), content);
      await expect(checkImageFile(join(folder, 'other'), 'qcow2')).rejects.toMatchObject({ code: 'IMAGE_REFUSED' });
    }
  });

  it('is refused in formats that name other files, or none', () => {
    expect(imageFileFormat('ami')).toBe('raw');
    for (const format of ['vmdk', 'vhdx', null]) expect(() => imageFileFormat(format)).toThrow('cannot be used here');
  });
});
