import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MachineFolder } from '../machine/machine-folder.js';
import type { Tuning } from '../tuning/tuning.js';
import { prepareFirmware } from './prepare-firmware.js';

const root = mkdtempSync(join(tmpdir(), 'prepared-firmware-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const file = (name: string) => join(root, name);

/** Creates a folder of descriptors with one firmware that supports q35. */
function installFirmware(name: string, features: readonly string[]): string {
  mkdirSync(file(name));
  for (const part of ['code', 'variables']) writeFileSync(file(`${name}.${part}`), `${name} ${part}`);
  const image = (part: string) => ({ filename: file(`${name}.${part}`), format: 'raw' });
  const descriptor = {
    'interface-types': ['uefi'],
    mapping: { device: 'flash', executable: image('code'), 'nvram-template': image('variables') },
    targets: [{ architecture: 'x86_64', machines: ['pc-q35-*'] }],
    features,
  };
  writeFileSync(join(root, name, 'firmware.json'), JSON.stringify(descriptor));
  return file(name);
}

const plain = installFirmware('plain', []);
const secure = installFirmware('secure', ['secure-boot', 'enrolled-keys', 'requires-smm']);
let count = 0;

/** Prepares the firmware of a new machine. */
function prepare(
  tuning: Pick<Tuning, 'secureBoot'> & Partial<Tuning>,
  folders: readonly string[],
  machine = `machine-${++count}`,
) {
  mkdirSync(file(machine), { recursive: true });
  const options = { firmware: 'uefi', machineType: 'q35', ...tuning } as Tuning;
  return prepareFirmware(new MachineFolder(file(machine), undefined), options, folders);
}

describe('the firmware of a machine', () => {
  it('has its own variables, which it keeps', async () => {
    expect(await prepare({ firmware: 'bios', secureBoot: 'disabled' }, [])).toBeNull();
    const variables = join(file('one'), 'firmware.vars');
    expect(await prepare({ secureBoot: 'disabled' }, [plain], 'one')).toMatchObject({
      code: { file: file('plain.code') },
      variables: { file: variables },
    });
    expect(readFileSync(variables, 'utf8')).toBe('plain variables');
    writeFileSync(variables, 'changed by the guest');
    await prepare({ secureBoot: 'disabled' }, [plain], 'one');
    expect(readFileSync(variables, 'utf8')).toBe('changed by the guest');
  });

  it('verifies signatures if required, and also if the host supports it and it is optional', async () => {
    for (const secureBoot of ['required', 'optional'] as const)
      expect(await prepare({ secureBoot }, [plain, secure].reverse())).toMatchObject({
        code: { file: file('secure.code') },
        needsSmm: true,
      });
    expect(await prepare({ secureBoot: 'optional' }, [plain])).toMatchObject({ code: { file: file('plain.code') } });
  });

  it.each([
    [
      'UEFI on a host without it',
      { secureBoot: 'disabled' },
      [],
      'the image needs UEFI (hw_firmware_type=uefi): install the package ovmf on this host',
    ],
    [
      'secure boot on a host whose firmware has no keys',
      { secureBoot: 'required' },
      [plain],
      'secure boot is required, but this host has no UEFI firmware with enrolled keys: install the package ovmf',
    ],
    [
      'secure boot on the machine type pc',
      { secureBoot: 'required', machineType: 'pc' },
      [secure],
      'secure boot is required, but works only with hw_machine_type=q35: set this image property',
    ],
  ] as const)('is missing for %s: the error states the fix', async (_case, tuning, folders, message) => {
    await expect(prepare(tuning, folders)).rejects.toMatchObject({ code: 'UNSUPPORTED', message });
  });
});
