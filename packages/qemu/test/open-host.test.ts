import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { inspectComputer } from '../src/open-host.js';
import { qemuDriver } from '../src/qemu-driver.js';
import { parseVersion } from '../src/qemu-host.js';

const folder = mkdtempSync(join(tmpdir(), 'ah-'));
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a computer that runs machines', () => {
  it('reports a missing program, and the package to install', async () => {
    await expect(inspectComputer({ directory: folder, program: 'qemu-system-nonsense' })).rejects.toMatchObject({
      code: 'QEMU_MISSING',
      message: expect.stringContaining('install the package'),
    });
  });

  it('rejects unknown options when the driver is created', () => {
    expect(() => qemuDriver({ directory: folder, accelerator: 'kvm' } as never)).toThrow(
      'unknown option "accelerator"',
    );
  });

  it('rejects invalid port forwardings and addresses', () => {
    expect(() => qemuDriver({ directory: folder, forward: ['80:80'] })).toThrow("forward: '80:80'");
    expect(() => qemuDriver({ directory: folder, forwardAddress: 'here,restrict=off' })).toThrow('forwardAddress');
  });

  it('rejects an unknown encryption of tunnels, encryption without bridges, and equal ports', () => {
    const bridge = { directory: folder, networkMode: 'bridge' } as const;
    expect(() => qemuDriver({ ...bridge, tunnelEncryption: 'ipsec' as never })).toThrow('off or wireguard');
    expect(() => qemuDriver({ directory: folder, tunnelEncryption: 'wireguard' })).toThrow('the network mode bridge');
    const ports = { tunnelPort: 51_820, tunnelEncryption: 'wireguard' } as const;
    expect(() => qemuDriver({ ...bridge, ...ports })).toThrow('must differ, but both are 51820');
    expect(() => qemuDriver({ ...bridge, wireguardPort: 0 })).toThrow(
      "wireguardPort must be a port from 1 to 65535, not '0'",
    );
  });

  it('reads the QEMU version', () => {
    expect(parseVersion('QEMU emulator version 7.2.22 (Debian 1:7.2)')).toBe(7_002_022);
    expect(parseVersion('QEMU emulator version 10.0')).toBe(10_000_000);
    expect(parseVersion('something else')).toBe(0);
  });
});

describe.runIf(process.getuid?.() === 0)('the directory of machines that run as another user', () => {
  const program = join(folder, 'qemu');
  for (const path of [program, join(folder, 'qemu-img')]) writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  beforeAll(() => void vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`));
  afterAll(() => void vi.unstubAllEnvs());
  const rejected = { code: 'DIRECTORY_UNUSABLE' };

  it('has a path that is short enough for sockets', async () => {
    const directory = join(folder, 'x'.repeat(60));
    await expect(inspectComputer({ directory, program, acceleration: 'tcg' })).rejects.toMatchObject(rejected);
  });

  it('must be accessible to that user: the error names the inaccessible folder', async () => {
    const closed = mkdtempSync(join(folder, 'c-'));
    const directory = join(closed, 'q');
    await expect(inspectComputer({ directory, program, acceleration: 'tcg' })).rejects.toMatchObject({
      ...rejected,
      message: expect.stringContaining(`cannot traverse ${closed}: run chmod o+x`),
    });
  });
});
