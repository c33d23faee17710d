import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { registerHost } from '../../src/hosts/register-host.js';
import type { MigrationStatus } from '../../src/model/index.js';
import { tables } from '../../src/schema/tables.js';
import { findEvacuationsFrom, OPEN_EVACUATION_STATUSES } from '../../src/server-migrations/evacuations.js';
import { storesUnderTest } from '../stores-under-test.js';

const process = { driver: 'test', cannot: [], canMove: true, snapshotFormat: null };
const seed = { name: 'h1', vcpus: 1, memoryMb: 1, diskGb: 1 };

describe.each(storesUnderTest(inject('postgresUrl')))('the registration of a host on $kind', ({ open }) => {
  async function host() {
    const { store, close } = await open();
    onTestFinished(close);
    const register = (now: number, removed?: readonly string[]) =>
      registerHost(store, { seed, address: '192.0.2.1', process, now, removed });
    const evacuate = (id: string, status: MigrationStatus) =>
      store.transaction((tx) =>
        tables.migrations.insert(tx, {
          id,
          serverId: `server-of-${id}`,
          projectId: 'p1',
          userId: 'ada',
          type: 'evacuation',
          status,
          sourceHost: 'h1',
          sourceNode: 'h1',
          destHost: 'h2',
          destNode: 'h2',
          oldFlavorSeq: null,
          newFlavorSeq: null,
          memoryTotalBytes: 0,
          memoryProcessedBytes: 0,
          memoryRemainingBytes: 0,
          diskTotalBytes: 0,
          diskProcessedBytes: 0,
          diskRemainingBytes: 0,
          hidden: false,
          createdAt: 1_000,
          updatedAt: null,
        }),
      );
    const lastSeenAt = async () => (await tables.services.find(store))[0]?.lastSeenAt;
    const openEvacuations = async () =>
      (await findEvacuationsFrom(store, ['h1'], OPEN_EVACUATION_STATUSES)).map(({ id }) => id);
    return { register, evacuate, lastSeenAt, openEvacuations };
  }

  it('records no delayed heartbeat of a host from which a server was evacuated', async () => {
    const { register, evacuate, lastSeenAt, openEvacuations } = await host();
    expect(await register(1_000, [])).toBe(true);
    expect(await register(2_000)).toBe(true);
    await evacuate('e1', 'done');
    expect(await register(3_000)).toBe(false);
    expect([await lastSeenAt(), await openEvacuations()]).toEqual([2_000, ['e1']]);
  });

  it.each(['accepted', 'done'] as const)('waits for an evacuation that is %s since the clean-up', async (status) => {
    const { register, evacuate, lastSeenAt, openEvacuations } = await host();
    await evacuate('e1', 'done');
    await evacuate('e2', status);
    expect(await register(3_000, ['e1'])).toBe(false);
    expect([await lastSeenAt(), await openEvacuations()]).toEqual([undefined, ['e1', 'e2']]);
  });

  it('completes the evacuations whose resources were removed', async () => {
    const { register, evacuate, lastSeenAt, openEvacuations } = await host();
    await evacuate('e1', 'done');
    expect(await register(3_000, ['e1'])).toBe(true);
    expect([await lastSeenAt(), await openEvacuations()]).toEqual([3_000, []]);
  });
});
