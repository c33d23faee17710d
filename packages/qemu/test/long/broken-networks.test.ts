import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { BridgeCloud } from '../bridge/bridge-cloud.js';
import type { Computer } from '../bridge/computer.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada, IMAGE, NETWORK } from '../qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: networks that cannot be built: this machine has no ${missing} ***\n`);

/** A change is detected within two attempts, two seconds apart, or by the next check of devices. */
const FOUND = { timeout: 60_000, interval: 200 };

describe.skipIf(missing)('a host whose networks cannot be built', { timeout: 300_000 }, () => {
  const broken = 'AUTO: networks cannot be built: ';
  let cloud: BridgeCloud;
  let server: Server;
  beforeAll(async () => {
    // Creating a network namespace fails while `/run/netns` is a file.
    const prevent = (computer: Computer) => computer.inside('touch', '/run/netns');
    cloud = await new BridgeCloud().open({}, prevent);
  });
  afterAll(() => cloud.close());

  const service = async () => {
    const [found] = await cloud.call('services', 'list')({ binary: 'nova-compute' });
    const { disabled, disabledReason } = found!.service;
    return { disabled, disabledReason };
  };
  const becomesBroken = () =>
    eventually(
      async () =>
        expect(await service()).toEqual({ disabled: true, disabledReason: expect.stringContaining(`${broken}/`) }),
      FOUND,
    );
  const recovers = () =>
    eventually(async () => expect(await service()).toEqual({ disabled: false, disabledReason: null }), FOUND);

  it('accepts no servers from its start on, and reports the reason in its service record and its health', async () => {
    expect(await service()).toEqual({ disabled: true, disabledReason: expect.stringContaining(`${broken}/`) });
    expect(await cloud.call('health', 'machines')()).toMatchObject({ healthy: false });
    const server = { name: 'w', flavorId: 'small', imageId: IMAGE, networks: [{ networkId: NETWORK }] };
    const { servers } = await cloud.call('servers', 'create')(ada, server);
    await cloud.idle();
    const rejected = await cloud.call('servers', 'get')(ada, servers[0]!.id);
    expect([rejected.host, rejected.fault?.message]).toEqual([null, expect.stringContaining('No valid host')]);
  });

  it('accepts servers as soon as the networks can be built', async () => {
    cloud.computer.inside('rm', '/run/netns');
    await recovers();
    expect(await cloud.call('health', 'machines')()).toMatchObject({ healthy: true });
    server = await cloud.create('guest', NETWORK);
    await eventually(async () => expect(await cloud.succeeds(server, 'ping -c 1 -W 2 10.0.0.1')).toBe(true));
    // Probes leave no devices behind.
    const kinds = new Set(['aqb', 'aqt']);
    const left = () => cloud.computer.left().map((name) => name.slice(0, 3));
    await eventually(() =>
      expect(
        left()
          .filter((kind) => kinds.has(kind))
          .sort(),
      ).toEqual([...kinds]),
    );
  });

  it('reports networks that cannot be built anymore, and builds them again for guests that still run', async () => {
    const shadow = (...args: readonly string[]) => cloud.computer.inside('mount', ...args);
    shadow('-t', 'tmpfs', '-o', 'ro', 'none', '/run/netns');
    await becomesBroken();
    cloud.computer.inside('umount', '/run/netns');
    await recovers();
    const line = await cloud.line(server);
    await line.run('ip addr flush dev eth0; udhcpc -i eth0 -n -q -t 30 -T 1 -s /udhcpc.sh >/dev/null 2>&1');
    expect(await line.run('ip -4 -o addr show dev eth0')).toContain(
      ` ${server.interfaces[0]!.fixedIps[0]!.address}/16`,
    );
    await eventually(async () =>
      expect(await cloud.succeeds(server, 'wget -q -O - http://169.254.169.254/openstack')).toBe(true),
    );
  });

  it('stays disabled if an administrator has disabled it', async () => {
    const [{ service: record } = expect.fail('no service')] = await cloud.call(
      'services',
      'list',
    )({
      binary: 'nova-compute',
    });
    await cloud.call('services', 'update')(record.id, { disabled: true, disabledReason: 'maintenance' });
    cloud.computer.inside('mount', '-t', 'tmpfs', '-o', 'ro', 'none', '/run/netns');
    await eventually(
      async () => expect(await cloud.call('health', 'machines')()).toMatchObject({ healthy: false }),
      FOUND,
    );
    cloud.computer.inside('umount', '/run/netns');
    await eventually(
      async () => expect(await cloud.call('health', 'machines')()).toMatchObject({ healthy: true }),
      FOUND,
    );
    expect(await service()).toEqual({ disabled: true, disabledReason: 'maintenance' });
  });
});
