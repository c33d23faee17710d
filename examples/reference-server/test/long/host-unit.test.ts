import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostKeysOf } from '@apistrata/compute-engine/maintenance';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { missingForBridges } from '../../../../packages/qemu/test/bridge/missing-for-bridges.js';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { admin, BOOT, QemuHosts } from '../../../../packages/qemu/test/qemu-hosts.js';
import { Systemd } from '../../../../testing/systemd.js';
import { installUnit } from '../shipped-unit.js';

const UNIT = 'apistrata-host.service';
/** On a busy computer, a program may need most of a minute to start and to report that its host is up. */
const DOWN_SECONDS = 180;

const postgresUrl = inject('postgresUrl');
const missing =
  Systemd.missing() ?? missingForBridges() ?? missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: a host under systemd: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('apistrata-host.service in a real systemd', { timeout: 600_000 }, () => {
  let hosts: QemuHosts;
  let systemd: Systemd;
  let host: string;

  beforeAll(async () => {
    hosts = await QemuHosts.withoutHosts(postgresUrl, {}, { settings: { serviceDownSeconds: DOWN_SECONDS } });
    const units = join(hosts.directory, 'units');
    mkdirSync(units);
    const keyFile = join(hosts.directory, 'host.key');
    await installUnit(UNIT, units, {
      directory: hosts.directory,
      environment: `"APISTRATA_DB=${hosts.database}" APISTRATA_MACHINE_DIR=${hosts.directory}/%l`,
      replaced: [['/etc/apistrata/host.key', keyFile]],
      options: [
        '--acceleration tcg --log-level error --address 127.0.0.1 --fence stop',
        `--setting serviceDownSeconds=${DOWN_SECONDS}`,
      ].join(' '),
    });
    systemd = await Systemd.start(units);
    host = await systemd.run('hostname', '--short');
    const key = { secretKey: process.env.APISTRATA_SECRET_KEY };
    writeFileSync(keyFile, (await hostKeysOf(hosts.database, host, key)).join('\n'));
  }, 120_000);
  afterAll(async () => {
    await systemd?.stop();
    await hosts?.close();
  }, 60_000);

  const systemctl = (...args: readonly string[]) => systemd.run('systemctl', ...args);
  const mainProcess = () => systemctl('show', '--property=MainPID', '--value', UNIT);
  const guards = () => processesOf(join(hosts.directory, host, 'guard'), 'node');

  it('leaves machines running when it is restarted and killed, with a guard that outlives a killed program', async () => {
    await systemctl('start', UNIT);
    const { id } = await hosts.booted(host).catch((error) => expect.fail(`${error}\n${systemd.log}`));
    const folder = hosts.folder(host, id);
    const machine = processesOf(folder);
    expect(machine).toHaveLength(1);
    const counted = () => (readFileSync(join(folder, 'console.log'), 'utf8').match(/^COUNT /gm) ?? []).length;

    const restarts = async (end: () => Promise<unknown>) => {
      const [program, [guard, ...more]] = [await mainProcess(), guards()];
      expect([guard, more]).toEqual([expect.any(Number), []]);
      await end();
      await expect.poll(mainProcess, BOOT).not.toMatch(new RegExp(`^(0|${program})$`));
      await expect.poll(guards, BOOT).toEqual([expect.not.toBeOneOf([guard])]);
      expect(processesOf(folder)).toEqual(machine);
      const before = counted();
      await expect.poll(counted, BOOT).toBeGreaterThan(before);
    };
    await restarts(() => systemctl('restart', UNIT));

    let unguarded = 0;
    const timer = setInterval(() => {
      if (guards().length === 0) unguarded += 1;
    }, 100);
    onTestFinished(() => clearInterval(timer));
    await restarts(() => systemctl('kill', '--kill-who=main', '--signal=KILL', UNIT));
    clearInterval(timer);
    expect(unguarded).toBe(0);

    await hosts.engine.servers.delete(admin, id);
    await expect.poll(() => processesOf(folder), BOOT).toEqual([]);
    await systemctl('stop', UNIT);
    expect(guards()).toEqual([]);
    expect(await systemctl('show', '--property=Result', '--value', UNIT)).toBe('success');
  });
});
