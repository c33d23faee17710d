import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { missingForVolumes } from '../../../../packages/qemu/test/volume-backend-suite.js';
import { eventually } from '../../../../testing/eventually.js';
import { findProgram } from '../../../../testing/servers.js';
import { startCloud } from './cloud-under-test.js';

const missing = missingForVolumes() ?? (findProgram('qemu-system-x86_64') ? undefined : 'qemu-system-x86_64');
if (missing) console.warn(`\n*** SKIPPED: the pool of real volumes: this machine has no ${missing} ***\n`);

const folder = machineDirectory();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const toGib = (bytes: number) => Math.floor(bytes / 2 ** 30);

async function startAsAdministrator(...args: readonly string[]) {
  const cloud = await startCloud(':memory:', ...args);
  onTestFinished(() => cloud.stop());
  const token = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
  const send = (method: 'get' | 'post', path: string, body?: object) =>
    cloud.send(method, `/volume/v3/${path}`, token, body);
  return {
    engine: cloud.engine,
    send,
    pool: async () => (await send('get', 'scheduler-stats/get_pools?detail=true')).body.pools[0].capabilities,
    /** Creates a volume of a type that requires a backend, and returns its status. */
    async statusOn(backend: string): Promise<string> {
      const volume_type = { name: backend, extra_specs: { volume_backend_name: backend } };
      await send('post', 'types', { volume_type });
      const { body } = await send('post', 'volumes', { volume: { size: 1, volume_type: backend } });
      return (await send('get', `volumes/${body.volume.id}`)).body.volume.status;
    },
  };
}

it.skipIf(missing)('the pool of real volumes has the size and the free space of its storage', async () => {
  const directory = join(folder, 'machines');
  const qemu = ['--driver', 'qemu', '--machine-dir', directory, '--acceleration', 'tcg'];
  const { engine, send, pool, statusOn } = await startAsAdministrator(...qemu);
  const { blocks, bsize } = statfsSync(directory);
  expect(await pool()).toMatchObject({
    volume_backend_name: 'directory',
    vendor_name: 'Apistrata',
    total_capacity_gb: toGib(blocks * bsize),
    provisioned_capacity_gb: 0,
  });
  await eventually(async () => {
    const { bavail } = statfsSync(directory);
    expect((await pool()).free_capacity_gb).toBe(toGib(bavail * bsize));
  });
  expect((await send('get', 'capabilities/volumes@simulated')).body).toMatchObject({
    namespace: 'OS::Storage::Capabilities::directory',
    volume_backend_name: 'directory',
  });
  expect([await statusOn('directory'), await statusOn('simulated')]).toEqual(['available', 'error']);
  expect(await pool()).toMatchObject({ provisioned_capacity_gb: 2 });
  const { report } = (await engine.statistics.host()) ?? {};
  expect(report?.volumes).toMatchObject({ totalBytes: blocks * bsize });
});

it('the pool of simulated volumes is unlimited', async () => {
  const { pool, statusOn } = await startAsAdministrator();
  expect(await pool()).toMatchObject({
    volume_backend_name: 'simulated',
    total_capacity_gb: 'infinite',
    free_capacity_gb: 'infinite',
  });
  expect([await statusOn('simulated'), await statusOn('directory')]).toEqual(['available', 'error']);
});
