import { describe, expect, inject, it } from 'vitest';
import { hostTunnels } from '../../src/hosts/host-tunnels.js';
import { registerHost } from '../../src/hosts/register-host.js';
import { storesUnderTest } from '../stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('tunnels of hosts on $kind', ({ open }) => {
  it('exist for hosts with a tunnel port, and are encrypted for hosts with a key', async () => {
    const { store, close } = await open();
    const join = (name: string, address: string, tunnelPort?: number, publicKey?: string) =>
      registerHost(store, {
        seed: { name, vcpus: 1, memoryMb: 1, diskGb: 1 },
        address,
        now: 1_000,
        removed: [],
        process: {
          driver: 'test',
          cannot: [],
          canMove: true,
          snapshotFormat: null,
          ...(tunnelPort !== undefined && { tunnelPort }),
          ...(publicKey !== undefined && { wireguard: { publicKey, port: 51_820 } }),
        },
      });
    await join('h1', '192.0.2.1');
    expect(await hostTunnels(store)).toEqual([]);
    await join('h2', '192.0.2.2', 4_789);
    await join('h3', '2001:db8::3', 4_789, 'key');
    expect(await hostTunnels(store)).toEqual([
      { address: '192.0.2.2', encrypted: false },
      { address: '2001:db8::3', encrypted: true },
    ]);
    await close();
  });
});
