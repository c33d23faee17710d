import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForBridges } from '../../../../packages/qemu/test/bridge/missing-for-bridges.js';
import { buildBootDisk, missingForBootLoaders } from '../../../../packages/qemu/test/guest/boot-disk.js';
import { buildGuest } from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { findProgram } from '../../../../testing/servers.js';
import { Systemd } from '../../../../testing/systemd.js';
import { copyUnit, installUnit, MACHINE_UNITS } from '../shipped-unit.js';

const POLLING = { timeout: 300_000, interval: 500 };

const folder = machineDirectory();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const analyze = findProgram('systemd-analyze');
it.skipIf(!analyze).each(MACHINE_UNITS)('%s is a valid unit', (unit) => {
  copyUnit(unit, folder);
  const { status, stderr } = spawnSync(String(analyze), ['verify', join(folder, unit)], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

const missing = Systemd.missing() ?? missingForBridges() ?? missingForBootLoaders();
if (missing) console.warn(`\n*** SKIPPED: machines under systemd: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('apistrata-machines.service in a real systemd', { timeout: 600_000 }, () => {
  const UNIT = 'apistrata-machines.service';
  const units = join(folder, 'units');
  let systemd: Systemd;

  beforeAll(async () => {
    mkdirSync(units);
    const disk = buildBootDisk(folder, buildGuest(folder));
    await installUnit(UNIT, units, {
      directory: folder,
      environment: `APISTRATA_DB=${folder}/data/cloud.db APISTRATA_MACHINE_DIR=${folder}/qemu`,
      options: `--acceleration tcg --log-level error --drain-ms 0 --image guest=${disk}`,
    });
    systemd = await Systemd.start(units);
  }, 120_000);
  afterAll(async () => {
    await systemd?.stop();
    for (const name of ['qemu-system', 'dnsmasq'])
      for (const pid of processesOf(folder, name)) process.kill(pid, 'SIGKILL');
  });

  it('leaves machines running when it is restarted, killed and stopped', async () => {
    const systemctl = (...args: readonly string[]) => systemd.run('systemctl', ...args);
    const environment = `OS_CLIENT_CONFIG_FILE=${folder}/data/clouds.yaml OS_CLOUD=apistrata`;
    const openstack = (command: string) => systemd.run('sh', '-ec', `${environment} openstack ${command}`);
    const serves = () => openstack('server list -f value -c Status').catch((error) => `${error.stderr}${systemd.log}`);
    const guests = () => processesOf(folder);
    const counted = (id: string) =>
      (readFileSync(join(folder, 'qemu/machines', id, 'console.log'), 'utf8').match(/^COUNT /gm) ?? []).length;

    await systemctl('start', UNIT);
    await expect.poll(serves, POLLING).toBe('');
    await openstack('server create --image guest --flavor m1.nano --network private --wait one');
    expect(await openstack('server show one -f value -c status -c fault')).toBe('ACTIVE');
    const id = await openstack('server show one -f value -c id');
    await expect.poll(() => counted(id), POLLING).toBeGreaterThan(1);
    const [guest, ...more] = guests();
    expect(more).toEqual([]);

    const endings = [
      () => systemctl('restart', UNIT),
      () => systemctl('kill', '--kill-who=main', '--signal=KILL', UNIT),
      () => systemctl('stop', UNIT).then(() => systemctl('start', UNIT)),
    ];
    for (const end of endings) {
      const program = await systemctl('show', '--property=MainPID', '--value', UNIT);
      await end();
      await expect
        .poll(() => systemctl('show', '--property=MainPID', '--value', UNIT), POLLING)
        .not.toMatch(new RegExp(`^(0|${program})$`));
      await expect.poll(serves, POLLING).toBe('ACTIVE');
      expect(guests()).toEqual([guest]);
      const before = counted(id);
      await expect.poll(() => counted(id), POLLING).toBeGreaterThan(before);
    }

    await openstack('server delete --wait one');
    await expect.poll(guests, POLLING).toEqual([]);
    await systemctl('stop', UNIT);
    expect(await systemctl('show', '--property=Result', '--value', UNIT)).toBe('success');
  });
});
