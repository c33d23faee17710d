import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFirmware } from './find-firmware.js';

describe('the firmware of a host', () => {
  const root = mkdtempSync(join(tmpdir(), 'firmware-'));
  const [first, second] = [join(root, 'etc'), join(root, 'share')] as [string, string];
  const file = (name: string) => join(root, name);

  function describeFirmware(folder: string, name: string, code: string, machines: string[], features: string[]): void {
    const descriptor = {
      'interface-types': ['uefi'],
      mapping: {
        device: 'flash',
        executable: { filename: file(code), format: 'raw' },
        'nvram-template': { filename: file('vars.fd'), format: 'raw' },
      },
      targets: [{ architecture: 'x86_64', machines }],
      features,
    };
    writeFileSync(join(folder, name), JSON.stringify(descriptor));
  }

  beforeAll(() => {
    for (const folder of [first, second]) mkdirSync(folder);
    for (const name of ['plain.fd', 'secure.fd', 'own.fd', 'vars.fd']) writeFileSync(file(name), '');
    describeFirmware(second, '10-missing.json', 'missing.fd', ['pc-q35-*'], []);
    describeFirmware(
      second,
      '20-secure.json',
      'secure.fd',
      ['pc-q35-*'],
      ['secure-boot', 'enrolled-keys', 'requires-smm'],
    );
    describeFirmware(second, '30-unenrolled.json', 'secure.fd', ['pc-q35-*'], ['secure-boot', 'requires-smm']);
    describeFirmware(second, '40-plain.json', 'plain.fd', ['pc-i440fx-*', 'pc-q35-*'], ['acpi-s3']);
    writeFileSync(join(second, '05-broken.json'), '{');
    writeFileSync(join(second, '06-other.json'), '{"interface-types": ["bios"]}');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const found = (machineFamily: string, secureBoot: boolean, folders = [first, second]) =>
    findFirmware({ machineFamily, secureBoot }, folders);

  it('is the first that exists, supports the machine type and has secure boot as required', async () => {
    expect(await found('pc-i440fx', false)).toEqual({
      code: { file: file('plain.fd'), format: 'raw' },
      variables: { file: file('vars.fd'), format: 'raw' },
      needsSmm: false,
    });
    expect(await found('pc-q35', false)).toMatchObject({ code: { file: file('plain.fd') }, needsSmm: false });
    expect(await found('pc-q35', true)).toMatchObject({ code: { file: file('secure.fd') }, needsSmm: true });
    expect(await found('pc-i440fx', true)).toBeUndefined();
    expect(await found('pc-q35', false, [file('none')])).toBeUndefined();
  });

  it('is replaced by a file of the same name in an earlier folder', async () => {
    describeFirmware(first, '40-plain.json', 'own.fd', ['pc-q35-*'], []);
    expect(await found('pc-q35', false)).toMatchObject({ code: { file: file('own.fd') } });
    expect(await found('pc-i440fx', false)).toBeUndefined();
  });
});
