import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostCloud } from '../host-cloud.js';
import { startHost } from '../program.js';

const postgresUrl = inject('postgresUrl');
/** A folder in an in-memory file system whose size differs from the size of the disk. */
const OTHER_FILE_SYSTEM = '/dev/shm';
const missing =
  missingForGuests() ||
  (!postgresUrl && 'PostgreSQL') ||
  (!existsSync(OTHER_FILE_SYSTEM) && `file system ${OTHER_FILE_SYSTEM}`);
if (missing) console.warn(`\n*** SKIPPED: the disk of a host: this machine has no ${missing} ***\n`);

const gibOf = (path: string) => {
  const { blocks, bsize } = statfsSync(path);
  return Math.floor((blocks * bsize) / 2 ** 30);
};

describe.skipIf(missing)('a host process with --machine-dir on another file system', () => {
  const folder = missing ? '' : mkdtempSync(join(OTHER_FILE_SYSTEM, 'aq-'));
  let database: string;
  let cloud: HostCloud;
  beforeAll(async () => {
    chmodSync(folder, 0o711);
    database = await freshDatabase(postgresUrl);
    cloud = new HostCloud(database, folder, 0);
    await cloud.startApi();
  }, 60_000);
  afterAll(async () => {
    await cloud?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it('offers the disk of that file system', { timeout: 60_000 }, async () => {
    const machines = ['--machine-dir', join(folder, 'h1'), '--driver', 'qemu', '--acceleration', 'tcg'];
    const host = await startHost(['--name', 'h1', '--db', database, ...machines], cloud.environment);
    onTestFinished(() => host.end('SIGTERM').then(() => undefined));
    const { body } = await cloud.request('GET', '/os-hypervisors/detail', undefined, '2.53');
    expect(gibOf(folder)).not.toBe(gibOf(tmpdir()));
    expect(body.hypervisors).toMatchObject([{ hypervisor_hostname: 'h1', local_gb: gibOf(folder) }]);
  });
});
