import { rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ownAddress } from '@apistrata/compute-engine/api';
import { afterAll, expect, it, vi } from 'vitest';
import { qemuHost } from '../../src/index.js';
import { machineDirectory } from '../qemu-cloud.js';

// This computer has a KVM device.
vi.mock('../../src/programs/acceleration.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/programs/acceleration.js')>();
  const probeAcceleration: typeof original.probeAcceleration = (program, desired, runAs) =>
    original.probeAcceleration(program, desired, runAs, process.execPath);
  return { ...original, probeAcceleration };
});

const folder = machineDirectory();
writeFileSync(join(folder, 'qemu-img'), '#!/bin/sh\n', { mode: 0o755 });
vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the path of a program that replaces QEMU and whose guests do what the shell commands do. */
function fakeQemu(name: string, commands: string): string {
  const path = join(folder, name);
  const version = 'QEMU emulator version 8.2.3';
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo '${version}' && exit\n${commands}\n`, { mode: 0o755 });
  return path;
}

const working = fakeQemu('working', 'printf RPL; exec sleep 60');
const broken = fakeQemu('broken', 'printf R; echo "failed to initialize kvm" >&2; exit 1');
const openHost = (program: string, acceleration: 'auto' | 'tcg') =>
  qemuHost({ directory: join(folder, 'q'), program, acceleration });

it('runs machines with KVM if a guest really runs with it, as its hypervisor type shows', async () => {
  const { seed, acceleration, summary } = await openHost(working, 'auto');
  expect(acceleration).toBe('kvm');
  expect(seed).toMatchObject({ hypervisorType: 'KVM', hypervisorVersion: 8_002_003, address: ownAddress() });
  expect(summary).toBe(`machines run with ${working}, with KVM`);
});

it('otherwise translates instructions, and states the reason in the log line', async () => {
  const { seed, acceleration, summary } = await openHost(broken, 'auto');
  expect([acceleration, seed.hypervisorType]).toEqual(['tcg', 'QEMU']);
  expect(summary).toMatch(
    /^machines run with .*broken, by translation \(TCG\), which is slow: KVM does not work on this computer: a probe guest did not get past real mode within 5 seconds \(failed to initialize kvm\)$/,
  );
  expect((await openHost(working, 'tcg')).summary).toMatch(/ by translation \(TCG\), which is slow: as configured$/);
});
