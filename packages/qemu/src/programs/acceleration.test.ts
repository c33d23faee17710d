import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { probeAcceleration, runProbeGuest } from './acceleration.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-acceleration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the path of a program that replaces QEMU and prints the given output of a guest. */
function fakeQemu(output: string, more = 'sleep 60'): string {
  const path = join(folder, `qemu-${output}-${more.length}`);
  writeFileSync(path, `#!/bin/sh\nprintf '${output}'\n${more}\n`, { mode: 0o755 });
  return path;
}

const QEMU = '/usr/bin/qemu-system-x86_64';

describe('the acceleration of guests', () => {
  it('works for a guest that has reached long mode', async () => {
    await runProbeGuest(fakeQemu('RPL', 'exec sleep 60'), 'kvm', undefined, 30_000);
  });

  it.each([
    ['', 'its firmware'],
    ['R', 'real mode'],
    ['RP', 'protected mode'],
  ])('does not work for a guest that hangs after the output "%s"', async (output, reported) => {
    const run = runProbeGuest(fakeQemu(output, 'exec sleep 60'), 'kvm', undefined, 300);
    await expect(run).rejects.toThrow(`a probe guest did not get past ${reported} within 0.3 seconds`);
  });

  it('does not work if QEMU exits; the reason is the error message of QEMU', async () => {
    const run = runProbeGuest(fakeQemu('R', 'echo "failed to initialize kvm" >&2; exit 1'), 'kvm', undefined, 30_000);
    await expect(run).rejects.toThrow('(failed to initialize kvm)');
  });

  const device = join(folder, 'kvm');
  writeFileSync(device, '');

  it('is KVM if a guest has reached long mode', async () => {
    const probe = await probeAcceleration(fakeQemu('RPL', 'exec sleep 60'), 'auto', undefined, device);
    expect(probe).toEqual({ acceleration: 'kvm', reason: null });
  });

  it.each([
    ['QEMU exits', fakeQemu('R', 'exit 1'), device, 'a probe guest did not get past real mode'],
    [
      'QEMU hangs',
      fakeQemu('', 'exec sleep 60'),
      device,
      'a probe guest did not get past its firmware within 5 seconds',
    ],
    ['there is no KVM device', fakeQemu('RPL', 'exec sleep 60'), join(folder, 'none'), 'ENOENT'],
  ])('is TCG, with the reason, if %s', async (_failure, program, kvmDevice, reported) => {
    const { acceleration, reason } = await probeAcceleration(program, 'auto', undefined, kvmDevice);
    expect(acceleration).toBe('tcg');
    expect(reason).toContain(`KVM does not work on this computer: `);
    expect(reason).toContain(reported);
  });

  it('cannot be KVM if KVM is required but does not work', async () => {
    await expect(probeAcceleration(fakeQemu('R', 'exit 1'), 'kvm', undefined, device)).rejects.toMatchObject({
      code: 'ACCELERATION_MISSING',
      message: expect.stringContaining('KVM does not work on this computer: a probe guest'),
    });
  });

  it.skipIf(!existsSync(QEMU))(
    'is verified by a guest that real QEMU runs to completion',
    { timeout: 120_000 },
    async () => {
      await runProbeGuest(QEMU, 'tcg', undefined, 60_000);
    },
  );
});
