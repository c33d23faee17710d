import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageSeed } from './image-seed.js';

describe('--image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-seed-'));
  const file = (name: string) => join(folder, name);
  beforeAll(() => {
    const iso = Buffer.alloc(40_000);
    iso.write('CD001', 32_769);
    writeFileSync(file('plain.img'), 'no signature');
    writeFileSync(file('debian-12.qcow2'), Buffer.from('QFI\xfb and more', 'latin1'));
    writeFileSync(file('disk.vmdk'), 'KDMV and more');
    writeFileSync(file('disk.vhdx'), 'vhdxfile and more');
    writeFileSync(file('install.iso'), iso);
    writeFileSync(file('old.vhd'), 'conectix and more');
    writeFileSync(file('odd=name,x=y.img'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['plain.img', 'raw'],
    ['debian-12.qcow2', 'qcow2'],
    ['disk.vmdk', 'vmdk'],
    ['disk.vhdx', 'vhdx'],
    ['install.iso', 'iso'],
  ])('recognizes the format of %s', (name, diskFormat) => {
    const seed = imageSeed(file(name));
    expect(seed).toMatchObject({ diskFormat, name: name.replace(/\.\w+$/, '') });
    expect(seed.properties).toEqual({});
  });

  it('accepts a name and properties', () => {
    const text = `bookworm=${file('debian-12.qcow2')},hw_firmware_type=uefi,hw_machine_type=q35`;
    expect(imageSeed(text)).toMatchObject({
      name: 'bookworm',
      diskFormat: 'qcow2',
      properties: { hw_firmware_type: 'uefi', hw_machine_type: 'q35' },
    });
  });

  it('accepts a file whose path contains an equals sign and a comma', () => {
    const { name, properties } = imageSeed(file('odd=name,x=y.img'));
    expect([name, properties]).toEqual(['odd=name,x=y', {}]);
  });

  it('replaces the image of the same name and file if its properties change, but no image of another name', () => {
    const plain = imageSeed(file('disk.vmdk'));
    const other = imageSeed(`other=${file('disk.vmdk')}`);
    expect(other.replacesIdPrefix).not.toBe(plain.replacesIdPrefix);
    const uefi = imageSeed(`${file('disk.vmdk')},hw_firmware_type=uefi`);
    expect(uefi.replacesIdPrefix).toBe(plain.replacesIdPrefix);
    expect(uefi.id).not.toBe(plain.id);
  });

  it('gets another id when the file changes', () => {
    const before = imageSeed(file('plain.img'));
    expect(imageSeed(file('plain.img')).id).toBe(before.id);
    writeFileSync(file('plain.img'), 'and another size');
    const after = imageSeed(file('plain.img'));
    expect(after.id).not.toBe(before.id);
    expect(after.replacesIdPrefix).toBe(before.replacesIdPrefix);
    expect([before.id, after.id].every((id) => id.startsWith(String(after.replacesIdPrefix)))).toBe(true);
    expect(after.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it.each([
    [`x=${file('old.vhd')}`, /old\.vhd is a vhd file\. Convert it to one of raw, qcow2, vmdk, vhdx, iso$/],
    [file('missing.img'), /cannot be read: ENOENT/],
    [`x=${file('plain.img')},uefi`, /"uefi" is not PROPERTY=VALUE$/],
  ])('rejects %s', (text, message) => {
    expect(() => imageSeed(text)).toThrow(message);
  });
});
