import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { BridgeCloud, OTHER } from '../bridge/bridge-cloud.js';
import { addressOf, GuestsOfHosts, ping } from '../bridge/host-guests.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { TwoComputers } from '../bridge/two-computers.js';
import { missingForGuests } from '../guest/build-guest.js';
import type { GuestLine } from '../guest/guest-line.js';
import { ada, NETWORK } from '../qemu-cloud.js';
import { admin, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: interfaces with several queues: this machine has no ${missing} ***\n`);

const GATEWAY = '10.0.0.1';
const QUEUES = 'rx-0 rx-1 tx-0 tx-1';
const SPECS = { 'hw:vif_multiqueue_enabled': 'true' };
const WIDE = { id: 'parallel', name: 'parallel', vcpus: 2, memoryMb: 192, diskGb: 1 };

const queuesOf = async (line: GuestLine, name: string) =>
  (await line.run(`ls /sys/class/net/${name}/queues`)).split(/\s+/).sort().join(' ');

describe.skipIf(missing)('interfaces with several queues', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let server: Server;

  beforeAll(async () => {
    cloud = await new BridgeCloud().open();
    await cloud.call('flavors', 'create')(WIDE);
    await cloud.call('flavors', 'setExtraSpecs')(admin, WIDE.id, SPECS);
    server = await cloud.create('parallel', NETWORK, WIDE.id);
    await cloud.line(server);
  }, 300_000);
  afterAll(() => cloud?.close());

  const act = async (action: string, request: object = {}) => {
    await cloud.act(server.id, action, request);
    await cloud.idle();
    const after = await cloud.call('servers', 'get')(ada, server.id);
    expect(after.fault).toBeNull();
    return after;
  };
  const connected = (name: string) =>
    vi.waitFor(async () => expect(await cloud.succeeds(server, `arping -c 1 -w 2 -I ${name} ${GATEWAY}`)).toBe(true), {
      timeout: 60_000,
      interval: 500,
    });

  /**
   * Returns how many queues QEMU has opened on each TAP device of the server; null for devices that support only one.
   */
  function tapQueues(): readonly (number | null)[] {
    interface Tap {
      readonly ifname: string;
      readonly linkinfo: { readonly info_data: { readonly multi_queue: boolean; readonly numqueues?: number } };
    }
    const links: readonly Tap[] = JSON.parse(cloud.computer.inside('ip', '-json', '-details', 'link', 'show'));
    return links
      .filter(({ ifname }) => ifname.startsWith('aqt'))
      .map(({ linkinfo: { info_data } }) => (info_data.multi_queue ? (info_data.numqueues ?? 0) : null));
  }

  it('have one for each VCPU, in the guest and on the host, and carry traffic', async () => {
    expect(await queuesOf(await cloud.line(server), 'eth0')).toBe(QUEUES);
    expect(tapQueues()).toEqual([2]);
    await connected('eth0');
  });

  it('have several queues after a hot plug, too', async () => {
    const after = await act('attachInterface', { networkId: OTHER, toExternal: false, resourceRequests: true });
    const line = await cloud.line(server);
    await line.run('n=0; until [ -e /sys/class/net/eth1 ] || [ $n -gt 60 ]; do n=$((n + 1)); sleep 0.5; done');
    expect(await queuesOf(line, 'eth1')).toBe(QUEUES);
    expect(tapQueues()).toEqual([2, 2]);
    // DHCP responds over the new interface.
    await line.run('ip link set eth1 up; udhcpc -i eth1 -n -q -t 10 -T 1 -s /udhcpc.sh >/dev/null 2>&1');
    expect(await line.run('ip -4 -o addr show dev eth1')).toContain(` ${after.interfaces[1]!.fixedIps[0]!.address}/24`);
    await line.run(`ip route replace default via ${GATEWAY} dev eth0`);
  });

  it('keep their queues and connections after a suspend', async () => {
    await act('suspend');
    expect(tapQueues()).toEqual([0, 0]);
    await act('resume');
    const line = await cloud.line(server);
    for (const name of ['eth0', 'eth1']) expect(await queuesOf(line, name)).toBe(QUEUES);
    expect(tapQueues()).toEqual([2, 2]);
    await connected('eth0');
  });

  it('have several queues in a rescue by a restarted program', async () => {
    await cloud.kill();
    await cloud.begin();
    await connected('eth0');
    await act('rescue', { imageId: server.imageId, mayBeVolumeBacked: false });
    expect(await queuesOf(await cloud.line(server, 2), 'eth0')).toBe(QUEUES);
    await connected('eth0');
    await act('unrescue');
    expect(await queuesOf(await cloud.line(server, 3), 'eth0')).toBe(QUEUES);
  });

  it('have a single queue after a resize to a flavor without multiqueue', async () => {
    await act('resize', { flavorId: 'small' });
    expect(await queuesOf(await cloud.line(server, 4), 'eth0')).toBe('rx-0 tx-0');
    expect(tapQueues()).toEqual([null, null]);
    await connected('eth0');
    await act('revertResize');
    expect(await queuesOf(await cloud.line(server, 5), 'eth0')).toBe(QUEUES);
    expect(tapQueues()).toEqual([2, 2]);
  });
});

describe.skipIf(missing || !postgresUrl)('queues of guests that move', { timeout: 300_000 }, () => {
  let computers: TwoComputers;
  let hosts: QemuHosts;
  let guests: GuestsOfHosts;

  beforeAll(async () => {
    computers = await TwoComputers.open();
    hosts = await QemuHosts.withoutHosts(postgresUrl, { flavors: [{ ...WIDE, extraSpecs: SPECS }] });
    guests = new GuestsOfHosts(hosts);
    for (const name of ['h1', 'h2'] as const)
      await hosts.start(name, {
        networkMode: 'bridge',
        computer: computers[name],
        link: { address: computers.addresses[name] },
      });
  }, 300_000);
  afterAll(async () => {
    guests?.close();
    await hosts?.close();
    computers?.close();
  }, 60_000);

  it('are the same on the other host, and after the return', async () => {
    const [one, other] = [
      await hosts.booted('h1', { flavorId: WIDE.id }),
      await hosts.booted('h2', { flavorId: WIDE.id }),
    ];
    const move = async (host: string) => {
      await hosts.engine.servers.act(admin, one.id, 'os-migrateLive', { host, checkedFirst: true });
      expect(await hosts.settled(one.id)).toMatchObject({ vmState: 'active', host });
      expect(await queuesOf(await guests.line(one.id), 'eth0')).toBe(QUEUES);
      await guests.becomes(true, one, ping(addressOf(other)));
    };
    await move('h2');
    await move('h1');
  });
});
