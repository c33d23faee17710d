import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostCpus } from './cpu/host-cpus.js';
import { Host } from './host.js';

const MIB = 2 ** 20;

describe('a computer with machines', () => {
  let directory: string;
  let host: Host;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'al-'));
    for (const name of ['machines', 'images']) mkdirSync(join(directory, name));
    host = new Host({
      directory,
      sharedDirectory: undefined,
      storage: undefined,
      diskWaitMs: 0,
      services: {} as DriverServices,
      program: 'qemu',
      qemuImg: 'qemu-img',
      acceleration: 'tcg',
      cpus: {} as HostCpus,
      sandbox: false,
      runAs: undefined,
      network: () => ({
        connect: async () => [],
        counters: async () => [],
        release: async () => {},
        problem: async () => null,
        onChange: () => () => {},
        close: async () => {},
      }),
      imageCacheBytes: undefined,
      moveBytesPerSecond: undefined,
      log: () => {},
      shutdownTimeoutMs: 0,
      volumeBackend: undefined,
    });
  });
  afterEach(async () => {
    await host.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('removes incomplete images of dead processes, but no image that is being written', async () => {
    const images = join(directory, 'images');
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    for (const [name, minutes] of [
      ['a.1.part', 11],
      ['a.1.part.raw', 11],
      ['b.2.part', 1],
      [`d.${process.pid}-x.part`, 1],
      ['e.4194305-x.part.raw', 0],
      ['sha256-c.raw', 11],
    ] as const) {
      writeFileSync(join(images, name), '');
      utimesSync(join(images, name), minutesAgo(minutes), minutesAgo(minutes));
    }
    await host.diskTools.cache.cleanUp();
    expect(readdirSync(images).sort()).toEqual(['b.2.part', `d.${process.pid}-x.part`, 'sha256-c.raw']);
  });

  it('keeps the end of the console output while the guest continues printing', async () => {
    const folder = join(directory, 'machines', 'm');
    const log = join(folder, 'console.log');
    mkdirSync(folder);
    writeFileSync(log, `${'x'.repeat(3 * MIB)}the end`);
    host.watchConsoles(5);
    await expect.poll(() => statSync(log).size).toBe(MIB);
    appendFileSync(log, ' and more');
    expect(readFileSync(log, 'utf8').endsWith('xthe end and more')).toBe(true);
  });
});
