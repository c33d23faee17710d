import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryBackend } from '../src/volumes/directory-backend.js';
import { LvmBackend } from '../src/volumes/lvm-backend.js';
import { missingForVolumes, testVolumeBackend } from './volume-backend-suite.js';

const programs = { qemuImg: 'qemu-img', run: { runAs: undefined } };

testVolumeBackend(
  { name: 'a directory', open: async (folder) => new DirectoryBackend(folder, programs) },
  missingForVolumes(),
);

/** Returns what this machine lacks for thin pools; undefined if it has all. */
function missingForThinPools(): string | undefined {
  const succeeds = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0;
  if (process.getuid?.() !== 0) return 'root';
  if (!succeeds('lvm', 'version')) return 'LVM (lvm2)';
  if (!succeeds('thin_check', '--version')) return 'thin_check (thin-provisioning-tools)';
  succeeds('modprobe', 'dm_thin_pool');
  if (!spawnSync('dmsetup', ['targets'], { encoding: 'utf8' }).stdout?.includes('thin-pool'))
    return 'kernel module dm_thin_pool (the tests in a guest use a kernel that has it)';
  return undefined;
}

const lvm = (...args: readonly string[]) => execFileSync('lvm', args, { stdio: 'pipe' });
const pool = { group: `apistrata-test-${process.pid}`, name: 'volumes' };

/** Creates a thin pool in a file. Returns a function that removes it. */
function createPool(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'apistrata-pool-'));
  const file = join(directory, 'pool');
  writeFileSync(file, '');
  truncateSync(file, 256 * 2 ** 20);
  const device = execFileSync('losetup', ['--find', '--show', file], { encoding: 'utf8' }).trim();
  lvm('vgcreate', '--physicalextentsize', '1m', pool.group, device);
  lvm('lvcreate', '--type', 'thin-pool', '--size', '200m', '--name', pool.name, pool.group);
  return () => {
    lvm('vgremove', '--yes', '--force', pool.group);
    execFileSync('losetup', ['--detach', device]);
    rmSync(directory, { recursive: true });
  };
}

let removePool: (() => void) | undefined;
testVolumeBackend(
  {
    name: 'an LVM thin pool',
    async open(folder) {
      removePool ??= createPool();
      return LvmBackend.open(folder, pool, programs);
    },
    close: async () => removePool?.(),
  },
  missingForVolumes() ?? missingForThinPools(),
);
