import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '@apistrata/compute-engine';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { qemuDriver } from '../../src/index.js';
import { findInstalledProgram } from '../../src/programs/find-program.js';
import { ada, machineDirectory } from '../qemu-cloud.js';

// This host has no UEFI firmware.
vi.mock('../../src/firmware/find-firmware.js', () => ({ findFirmware: async () => undefined }));

const PROGRAMS = ['qemu-system-x86_64', 'qemu-img'] as const;
const missing = PROGRAMS.find((name) => findInstalledProgram(name) === undefined);
if (missing) console.warn(`\n*** SKIPPED: hosts without swtpm and ovmf: this machine has no ${missing} ***\n`);

const IMAGES = {
  tpm: { hw_tpm_version: '2.0' },
  secureBoot: { hw_firmware_type: 'uefi', hw_machine_type: 'q35', os_secure_boot: 'required' },
  uefi: { hw_firmware_type: 'uefi', hw_machine_type: 'q35' },
} as const;
const imageIds = Object.fromEntries(Object.keys(IMAGES).map((name) => [name, randomUUID()]));

describe.skipIf(missing)('a host without swtpm and ovmf', () => {
  const directory = machineDirectory();
  const programs = join(directory, 'programs');
  const log: string[] = [];

  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true, force: true });
  });

  async function openEngine() {
    mkdirSync(programs);
    for (const name of PROGRAMS) symlinkSync(findInstalledProgram(name) ?? '', join(programs, name));
    vi.stubEnv('PATH', programs);
    return createEngine({
      database: join(directory, 'cloud.db'),
      preset: {
        flavors: [{ id: 'tiny', name: 'tiny', vcpus: 1, memoryMb: 32, diskGb: 1 }],
        hosts: [{ name: 'here', vcpus: 4, memoryMb: 4096, diskGb: 100 }],
        images: Object.entries(IMAGES).map(([name, properties]) => {
          return { id: imageIds[name] ?? '', name, diskFormat: 'raw', content: Buffer.alloc(512), properties };
        }),
      },
      driver: qemuDriver({ directory: join(directory, 'q'), acceleration: 'tcg', log: (line) => log.push(line) }),
    });
  }

  it('rejects servers that require them: the log names the packages, and the fault the trait or the package', async () => {
    const engine = await openEngine();
    const faultOf = async (image: keyof typeof IMAGES) => {
      const request = { name: image, flavorId: 'tiny', imageId: imageIds[image], networks: [] };
      const { servers } = await engine.servers.create(ada, request);
      await engine.idle();
      const { vmState, fault } = await engine.servers.get(ada, servers[0]?.id ?? '');
      return { vmState, ...fault };
    };
    try {
      for (const [requirement, trait, packageName] of [
        ['a TPM', 'COMPUTE_SECURITY_TPM_2_0', 'swtpm'],
        ['secure boot', 'COMPUTE_SECURITY_UEFI_SECURE_BOOT', 'ovmf'],
      ])
        expect(log).toContain(
          `this host runs no servers that require ${requirement} (${trait}): install the package ${packageName}, and restart`,
        );
      const rejected = (trait: string) => ({
        vmState: 'error',
        message: 'No valid host was found. There are not enough hosts available.',
        details: expect.stringContaining(`missing traits: ${trait}`),
      });
      expect(await faultOf('tpm')).toMatchObject(rejected('COMPUTE_SECURITY_TPM_2_0'));
      expect(await faultOf('secureBoot')).toMatchObject(rejected('COMPUTE_SECURITY_UEFI_SECURE_BOOT'));
      expect(await faultOf('uefi')).toMatchObject({
        vmState: 'error',
        message: expect.stringContaining('the image needs UEFI (hw_firmware_type=uefi): install the package ovmf'),
      });
    } finally {
      await engine.close();
    }
  });
});
