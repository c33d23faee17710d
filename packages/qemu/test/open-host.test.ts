import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { look } from '../src/open-host.js';
import { qemuDriver } from '../src/qemu-driver.js';
import { versionNumber } from '../src/qemu-host.js';

const folder = mkdtempSync(join(tmpdir(), 'ah-'));
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a computer that is to run machines', () => {
  it('says which program it lacks, and what to install', async () => {
    await expect(look({ directory: folder, program: 'qemu-system-nonsense' })).rejects.toMatchObject({
      code: 'QEMU_MISSING',
      message: expect.stringContaining('install the package'),
    });
  });

  it('refuses options that there are not, when the driver is made', () => {
    expect(() => qemuDriver({ directory: folder, accelerator: 'kvm' } as never)).toThrow(
      'unknown option "accelerator"',
    );
  });

  it('refuses forwards and addresses that cannot be', () => {
    expect(() => qemuDriver({ directory: folder, forward: ['80:80'] })).toThrow("forward: '80:80'");
    expect(() => qemuDriver({ directory: folder, forwardAddress: 'here,restrict=off' })).toThrow('forwardAddress');
  });

  it('reads the version of QEMU', () => {
    expect(versionNumber('QEMU emulator version 7.2.22 (Debian 1:7.2)')).toBe(7_002_022);
    expect(versionNumber('QEMU emulator version 10.0')).toBe(10_000_000);
    expect(versionNumber('something else')).toBe(0);
  });
});

describe.runIf(process.getuid?.() === 0)('the directory of machines that run as another user', () => {
  const program = join(folder, 'qemu');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const refused = { code: 'DIRECTORY_UNUSABLE' };

  it('has a path that is short enough for sockets', async () => {
    const directory = join(folder, 'x'.repeat(60));
    await expect(look({ directory, program, acceleration: 'tcg' })).rejects.toMatchObject(refused);
  });

  it('can be got at by them: what is in the way is named', async () => {
    const closed = mkdtempSync(join(folder, 'c-'));
    const directory = join(closed, 'q');
    await expect(look({ directory, program, acceleration: 'tcg' })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`may not pass ${closed}: chmod o+x it`),
    });
  });
});
