import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QmpClient } from '../../src/qmp/qmp-client.js';
import { parseCoreList } from '../../src/tuning/dedicated-cores.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { ada, IMAGE, OLD_IMAGE, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: options of flavors and images: this machine has no ${missing} ***\n`);

/** The PCI device ids that the guest sees. */
const [E1000, WATCHDOG, TABLET_BUS, RANDOM, CIRRUS] = ['0x100e', '0x25ab', '0x000d', '0x1005', '0x00b8'];

function coresOf(path: string): readonly number[] {
  return parseCoreList(/^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`/proc/${path}/status`, 'utf8'))![1]!);
}

const here = missing ? [] : coresOf('self');
if (!missing && here.length < 2)
  console.warn('\n*** SKIPPED: machines with cores to themselves: this machine has one core ***\n');

describe.skipIf(missing)('a machine with options of a flavor and an image', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    cloud = await QemuCloud.open({ shutdownTimeoutMs: 2_000 });
    for (const [flavorId, vcpus, extraSpecs] of [
      [
        'odd',
        2,
        {
          'hw:cpu_sockets': '2',
          'hw:hide_hypervisor_id': 'true',
          'hw:pmu': 'true',
          'hw:boot_menu': 'true',
          'hw:watchdog_action': 'pause',
          'hw_rng:allowed': 'false',
          'quota:disk_read_bytes_sec': '104857600',
          'quota:disk_total_iops_sec': '5000',
        },
      ],
      ['alone', 1, { 'hw:cpu_policy': 'dedicated', 'hw_rng:rate_bytes': '64' }],
      ['crowd', here.length, { 'hw:cpu_policy': 'dedicated' }],
    ] as const) {
      await cloud.engine.flavors.create({ id: flavorId, name: flavorId, vcpus, memoryMb: 160, diskGb: 1 });
      await cloud.engine.flavors.setExtraSpecs(ada, flavorId, extraSpecs);
    }
  });
  afterAll(() => cloud.close());

  const folder = (id: string) => join(cloud.machines, id);
  const pidOf = (id: string) => processesOf(folder(id))[0]!;

  /** Queries QEMU directly. QEMU serves one connection at a time, so the engine is closed in the meantime. */
  async function requested<T>(id: string, command: string): Promise<T> {
    await cloud.engine.close();
    const qmp = await QmpClient.connect(join(folder(id), 'qmp'));
    const response = await qmp.execute<T>(command);
    qmp.close();
    await cloud.begin();
    return response;
  }

  it('has the requested topology, devices and limits', async () => {
    const { id } = await cloud.create({ name: 'odd', flavorId: 'odd', imageId: OLD_IMAGE });
    await cloud.console(id, /GUEST ready/);
    const line = await cloud.line(id);
    const packages = await line.run('cat /sys/devices/system/cpu/cpu[01]/topology/physical_package_id');
    expect(packages.replaceAll(/\s/g, '')).toBe('01');
    const devices = await line.run('cat /sys/bus/pci/devices/*/device');
    for (const device of [E1000, WATCHDOG, CIRRUS]) expect(devices).toContain(device);
    for (const device of [RANDOM, TABLET_BUS]) expect(devices).not.toContain(device);
    // Guests detect disks of this kind, including the config drive, in any order.
    const sizes = (await line.run('ls /sys/block | grep -c ^vd || true; cat /sys/block/sd*/size')).split(/\s+/);
    expect(sizes[0]).toBe('0');
    expect(sizes).toContain(`${2 ** 30 / 512}`);
    const blocks = await requested<{ qdev?: string; inserted?: object }[]>(id, 'query-block');
    const root = blocks.find(({ qdev }) => qdev?.includes('root'))!;
    expect(root.inserted).toMatchObject({ bps: 0, bps_rd: 104_857_600, bps_wr: 0, iops: 5000, iops_rd: 0 });
    const diagnostics = await cloud.engine.servers.diagnostics(await cloud.engine.servers.get(ada, id));
    expect(diagnostics.disks).toHaveLength(1);
    await cloud.engine.servers.delete(ada, id);
    await cloud.engine.idle();
  });

  it.skipIf(here.length < 2)('has dedicated cores, which other machines do not use while it exists', async () => {
    const shared = await cloud.create({ name: 'shared', imageId: IMAGE });
    expect(coresOf(`${pidOf(shared.id)}`)).toEqual(here);
    const alone = await cloud.create({ name: 'alone', flavorId: 'alone', imageId: IMAGE });
    const [own] = here.slice(-1);
    const threads = readdirSync(`/proc/${pidOf(alone.id)}/task`);
    for (const thread of threads) expect(coresOf(`${pidOf(alone.id)}/task/${thread}`)).toEqual([own]);
    expect(coresOf(`${pidOf(shared.id)}`)).toEqual(here.slice(0, -1));
    const later = await cloud.create({ name: 'later', imageId: IMAGE });
    expect(coresOf(`${pidOf(later.id)}`)).toEqual(here.slice(0, -1));

    await expect(cloud.create({ name: 'crowd', flavorId: 'crowd', imageId: IMAGE })).rejects.toThrow(
      `this machine requests ${here.length} dedicated cores, but only ${here.length - 2} are available`,
    );
    expect(cloud.folders()).toHaveLength(3);

    await cloud.engine.servers.delete(ada, alone.id);
    await cloud.engine.idle();
    for (const { id } of [shared, later]) expect(coresOf(`${pidOf(id)}`)).toEqual(here);
  });
});
