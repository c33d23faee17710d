import { describe, expect, inject, it } from 'vitest';
import { registerHost } from '../../src/hosts/register-host.js';
import { tunnelAddresses } from '../../src/hosts/tunnel-addresses.js';
import { storesUnderTest } from '../stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('tunnel addresses on $kind', ({ open }) => {
  it('contain only hosts with a tunnel port', async () => {
    const { store, close } = await open();
    const join = (name: string, address: string, tunnelPort?: number) =>
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
        },
      });
    await join('h1', '192.0.2.1');
    expect(await tunnelAddresses(store)).toEqual([]);
    await join('h2', '192.0.2.2', 4_789);
    await join('h3', '2001:db8::3', 4_789);
    expect(await tunnelAddresses(store)).toEqual(['192.0.2.2', '2001:db8::3']);
    await close();
  });
});
