import { rmSync } from 'node:fs';
import type { Server } from '@apistrata/compute-engine';
import { CatalogError } from '@apistrata/compute-engine/catalogs';
import type { Driver, DriverServices } from '@apistrata/compute-engine/drivers';
import { testDriver } from '@apistrata/compute-engine/testing';
import { describe, it } from 'vitest';
import { qemuDriver } from '../../src/index.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { machineDirectory } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: the suite for drivers with QEMU: this machine has no ${missing} ***\n`);

const flavor: Server['flavor'] = {
  id: '1',
  name: 'tiny',
  vcpus: 1,
  memoryMb: 32,
  diskGb: 1,
  ephemeralGb: 0,
  swapMb: 0,
  extraSpecs: {},
};

/**
 * An image without content. No guest boots it, because the suite tests the driver's operations, not their effect in
 * guests.
 */
const services = {
  images: {
    get: async (_caller: unknown, id: string) => ({ id, diskFormat: 'raw', checksum: null, properties: {} }),
    download: async () =>
      (async function* () {
        yield Buffer.alloc(2 ** 16);
      })(),
  },
  networks: {
    getNetwork: async () => {
      throw new CatalogError('NETWORK_NOT_FOUND', 'the networks are disabled');
    },
  },
  volumes: {
    getVolume: async (_caller: unknown, id: string) => ({ id, sizeGb: 1, imageMetadata: {} }),
  },
} as unknown as DriverServices;

const opened = new Map<Driver, string>();

testDriver({
  describe: missing ? describe.skip : describe,
  it: (title, body) => it(title, { timeout: 120_000 }, body),
  name: 'the QEMU driver',
  server: { flavor },
  // The driver cannot access disks of another computer.
  hosts: ['here', 'here'],
  needsGuest: ['detach_volume', 'set_password', 'quiesce'],
  async open() {
    const directory = machineDirectory();
    const options = { directory: `${directory}/q`, acceleration: 'tcg', shutdownTimeoutMs: 50 } as const;
    const driver = await qemuDriver(options)({ now: Date.now } as never, services);
    opened.set(driver, directory);
    return driver;
  },
  async close(driver) {
    await driver.close?.();
    // Tests may leave machines behind, and these outlive their driver.
    for (const program of ['qemu-system', 'qemu-storage-daemon'])
      for (const pid of processesOf(opened.get(driver)!, program)) process.kill(pid, 'SIGKILL');
    rmSync(opened.get(driver)!, { recursive: true, force: true });
    opened.delete(driver);
  },
});
