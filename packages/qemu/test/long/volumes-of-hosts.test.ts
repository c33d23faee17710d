import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: volumes on several hosts: this machine has no ${missing} ***\n`);

const NAMES = ['h1', 'h2'] as const;
type Name = (typeof NAMES)[number];
const GIB_SECTORS = 2 ** 30 / 512;
const STORES_VOLUMES = { volumes: true };

describe.skipIf(missing)('volumes on two hosts', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  /** The server on each host. */
  const servers = { h1: '', h2: '' };
  /** The volume on each host that the server on the other host uses, and one that the server on the same host uses. */
  const far = { h1: '', h2: '' };
  const near = { h1: '', h2: '' };

  const volumes = () => hosts.engine.embedded.volumes;
  const create = (more: object = {}) => volumes().createVolume(admin.caller, { key: randomUUID(), sizeGb: 1, ...more });
  const storedOn = (name: Name) => readdirSync(join(hosts.directory, name, 'volumes'));
  const contentsOf = (name: Name) => readdirSync(join(hosts.directory, name, 'contents'));
  const socketsOf = (name: Name) => readdirSync(join(hosts.directory, name, 'far'));
  const servedBy = (name: Name) => processesOf(join(hosts.directory, name, 'contents'), 'qemu-storage-daemon').length;
  const otherThan = (name: Name): Name => (name === 'h1' ? 'h2' : 'h1');
  const attach = async (server: string, volumeId: string) => {
    await hosts.engine.servers.act(admin, server, 'attachVolume', {
      volumeId,
      allowShelved: false,
      multiattach: false,
    });
    await eventually(
      async () => expect((await volumes().getVolume(admin.caller, volumeId)).status).toBe('in-use'),
      BOOT,
    );
  };
  /** Runs a command in a guest with the path of a volume's device in `$d`, as soon as the guest has the device. */
  const withDevice = async (server: string, volumeId: string, command: string) => {
    const find = `d=$(grep -l ${volumeId.slice(0, 20)} /sys/block/*/serial 2>/dev/null | cut -d / -f 4)`;
    const wait = `n=0; until ${find}; [ -n "$d" ]; do n=$((n + 1)); [ $n -lt 240 ] || break; sleep 0.25; done`;
    return (await hosts.line(server)).run(`${wait}; d=/dev/$d; ${command}`);
  };
  const write = (text: string) => `printf '%-512s' '${text}' | dd of=$d bs=512 oflag=direct 2>/dev/null`;
  const READ = 'dd if=$d bs=512 count=1 iflag=direct 2>/dev/null';

  beforeAll(async () => {
    hosts = await QemuHosts.withoutHosts(postgresUrl);
    for (const name of NAMES) await hosts.start(name, STORES_VOLUMES);
    await Promise.all(
      NAMES.map(async (name) => {
        servers[name] = (await hosts.booted(name)).id;
        await volumes().createType(admin.caller, { name, extraSpecs: { host: name } });
      }),
    );
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  it('are stored on the host that their type selects', async () => {
    for (const name of NAMES) {
      near[name] = (await create({ volumeType: name })).id;
      far[name] = (await create({ volumeType: name })).id;
      expect([...storedOn(name)].sort()).toEqual([near[name], far[name]].sort());
    }
  });

  it('are used by the guests of both hosts', async () => {
    for (const name of NAMES) {
      await attach(servers[name], near[name]);
      await attach(servers[name], far[otherThan(name)]);
      await withDevice(servers[name], near[name], write(`near ${name}`));
      await withDevice(servers[name], far[otherThan(name)], write(`far from ${name}`));
    }
    for (const name of NAMES) {
      expect(await withDevice(servers[name], near[name], READ)).toBe(`near ${name}`);
      expect(await withDevice(servers[name], far[otherThan(name)], READ)).toBe(`far from ${name}`);
      expect(servedBy(name)).toBe(2);
      // A socket and its record: only the volume on the other host is connected through the links.
      expect(socketsOf(name)).toHaveLength(2);
    }
  });

  it('are extended from the other host', async () => {
    await volumes().extendVolume(admin.caller, far.h2, 2);
    const hasGrown = `until [ $(cat /sys/block/\${d#/dev/}/size) = ${2 * GIB_SECTORS} ]; do sleep 0.2; done`;
    await withDevice(servers.h1, far.h2, `timeout 60 sh -c 'd='$d'; ${hasGrown}'`);
    expect(await withDevice(servers.h1, far.h2, READ)).toBe('far from h1');
  });

  it('are copied on the host of their source', async () => {
    const before = contentsOf('h1');
    const request = { key: randomUUID(), volumeId: far.h2, force: true };
    const snapshot = await volumes().createSnapshot(admin.caller, request);
    await withDevice(servers.h1, far.h2, write('changed'));
    const copy = await create({ snapshotId: snapshot.id, sizeGb: 2 });
    expect(copy).toMatchObject({ host: 'h2', status: 'available' });
    expect(contentsOf('h1')).toEqual(before);
    await attach(servers.h1, copy.id);
    expect(await withDevice(servers.h1, copy.id, READ)).toBe('far from h1');
    await hosts.engine.servers.act(admin, servers.h1, 'detachVolume', { volumeId: copy.id });
    await eventually(
      async () => expect((await volumes().getVolume(admin.caller, copy.id)).status).toBe('available'),
      BOOT,
    );
    await volumes().deleteVolume(admin.caller, copy.id);
    await volumes().deleteSnapshot(admin.caller, snapshot.id);
    expect(storedOn('h2')).toHaveLength(2);
  });

  it('on other hosts stay usable while a host is down, and its own volumes after its restart', async () => {
    await hosts.kill('h2');
    expect(await withDevice(servers.h1, near.h1, READ)).toBe('near h1');
    await (await hosts.line(servers.h1)).run('true');
    await hosts.start('h2', STORES_VOLUMES);
    expect(await withDevice(servers.h1, far.h2, READ)).toBe('changed');
    expect(await withDevice(servers.h2, near.h2, READ)).toBe('near h2');
  });

  it('stay attached to a guest that migrates to the other host', async () => {
    await hosts.engine.servers.act(admin, servers.h1, 'os-migrateLive', { host: 'h2', checkedFirst: true });
    expect(await hosts.settled(servers.h1)).toMatchObject({ vmState: 'active', host: 'h2' });
    expect(await withDevice(servers.h1, far.h2, READ)).toBe('changed');
    await withDevice(servers.h1, near.h1, write('moved'));
    expect(await withDevice(servers.h1, near.h1, READ)).toBe('moved');
    // The volume of h2 is now local, and those of h1 are connected through the links.
    await expect.poll(() => socketsOf('h1'), BOOT).toEqual([]);
    expect(socketsOf('h2')).toHaveLength(4);
  });

  it('are swapped on their own host', async () => {
    const newVolumeId = await volumes().beginMigration(admin.caller, near.h2);
    await hosts.engine.servers.act(admin, servers.h2, 'swapVolume', { oldVolumeId: near.h2, newVolumeId });
    const migrated = { migrationStatus: 'success', host: 'h2' };
    await expect.poll(() => volumes().getVolume(admin.caller, near.h2), BOOT).toMatchObject(migrated);
    expect(await withDevice(servers.h2, near.h2, READ)).toBe('near h2');
    expect(contentsOf('h2')).toHaveLength(2);
  });

  it('are deleted from each host', async () => {
    for (const name of NAMES) await hosts.engine.servers.delete(admin, servers[name]);
    for (const { id } of await volumes().listVolumes(admin.caller))
      await eventually(() => volumes().deleteVolume(admin.caller, id), BOOT);
    for (const name of NAMES) {
      expect(contentsOf(name)).toEqual([]);
      expect(socketsOf(name)).toEqual([]);
    }
  });
});
