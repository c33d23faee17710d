import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkImageFile, parseDiskFormat } from './check-image-file.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the path of a qcow2 header for a disk of 1 GiB. */
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

describe('an uploaded image file', () => {
  it('has the size that its header states', async () => {
    expect(await checkImageFile(qcow2(), 'qcow2')).toBe(2 ** 30);
    expect(await checkImageFile(qcow2({ version: 2 }), 'qcow2')).toBe(2 ** 30);
    writeFileSync(join(folder, 'raw'), Buffer.alloc(700));
    expect(await checkImageFile(join(folder, 'raw'), 'raw')).toBe(700);
  });

  it.each([
    ['with a backing file', { backing: 200n }, 'a backing file'],
    ['of version 2 with a backing file', { version: 2, backing: 200n }, 'a backing file'],
    ['with an external data file', { incompatible: 4n }, 'an external data file'],
    ['of an unknown version', { version: 4 }, 'qcow2 version 4'],
  ])('is rejected %s', async (_, header, reason) => {
    await expect(checkImageFile(qcow2(header), 'qcow2')).rejects.toMatchObject({
      code: 'IMAGE_REJECTED',
      message: expect.stringContaining(reason),
    });
  });

  it('is rejected if it is not a qcow2 file, regardless of its size', async () => {
    for (const content of ['', 'QFI', 'x'.repeat(600)]) {
      writeFileSync(join(folder, 'other'), content);
      await expect(checkImageFile(join(folder, 'other'), 'qcow2')).rejects.toMatchObject({ code: 'IMAGE_REJECTED' });
    }
  });

  it.each([
    ['qcow2', 'QFI\xfb'],
    ['vmdk', 'KDMV'],
    ['vmdk', '# Disk DescriptorFile'],
    ['vhdx', 'vhdxfile'],
    ['luks', 'LUKS\xba\xbe'],
    ['vdi', `${' '.repeat(64)}\x7f\x10\xda\xbe`],
  ])('is rejected as raw if its content is %s', async (found, content) => {
    writeFileSync(join(folder, 'other'), content, 'latin1');
    const reason = `the image declares raw, but its content is ${found}`;
    await expect(checkImageFile(join(folder, 'other'), 'raw')).rejects.toThrow(reason);
  });

  /** Returns the path of a vmdk file with the given descriptor. */
  function vmdk(descriptor: string, capacity = 2048n): string {
    const content = Buffer.alloc(1024);
    content.write('KDMV', 'latin1');
    content.writeBigUInt64LE(capacity, 12);
    content.writeBigUInt64LE(1n, 28);
    content.writeBigUInt64LE(1n, 36);
    content.write(descriptor, 512, 'latin1');
    const path = join(folder, 'vmdk');
    writeFileSync(path, content);
    return path;
  }

  it('has the size that its vmdk header states', async () => {
    const text = '# Disk DescriptorFile\nparentCID=ffffffff\ncreateType="monolithicSparse"\n';
    expect(await checkImageFile(vmdk(text), 'vmdk')).toBe(2 ** 20);
  });

  it.each([
    ['that names flat files', 'createType="monolithicFlat"\n'],
    ['with two types', 'createType="monolithicSparse"\ncreateType="monolithicFlat"\n'],
    ['without a type', 'parentCID=ffffffff\n'],
    ['with a parent', 'parentCID=12345678\ncreateType="monolithicSparse"\n'],
  ])('is rejected as a vmdk file %s', async (_, text) => {
    await expect(checkImageFile(vmdk(text), 'vmdk')).rejects.toMatchObject({ code: 'IMAGE_REJECTED' });
    await expect(checkImageFile(vmdk(text, 0n), 'vmdk')).rejects.toMatchObject({ code: 'IMAGE_REJECTED' });
  });

  it('is rejected in unsupported formats', () => {
    expect(parseDiskFormat('ami')).toBe('raw');
    for (const format of ['vdi', 'ploop', null])
      expect(() => parseDiskFormat(format)).toThrow('unsupported image format');
  });
});
