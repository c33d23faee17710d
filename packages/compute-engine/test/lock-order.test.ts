import { lockName, type Tx } from '@apistrata/record-store';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { lockWithoutWaiting, waitForLockWaits } from '../../../testing/row-locks.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import type { Server } from '../src/model/index.js';
import { requiredAmounts } from '../src/scheduler/amounts.js';
import { claim } from '../src/scheduler/claims.js';
import { keepOnlyClaim } from '../src/scheduler/server-claims.js';
import { tables } from '../src/schema/tables.js';
import { claimDestination } from '../src/server-migrations/destination.js';
import { serverContentOf } from '../src/servers/volumes/root-disk.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { checkInvariants } from './model/invariants.js';
import { storesUnderTest } from './stores-under-test.js';

const admin = () => contextOf('p1', { isAdmin: true });
const request = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'host1' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))('the lock order of the engine on $kind', ({ kind, database }) => {
  // SQLite executes one transaction at a time.
  const test = it.runIf(kind === 'PostgreSQL');
  let engine: Engine;
  let server: Server;
  beforeEach(async () => {
    engine = await engineUnderTest({ database: await database() });
    const { id } = (await engine.servers.create(admin(), request)).servers[0]!;
    await engine.idle();
    server = await engine.servers.get(admin(), id);
  });
  afterEach(() => engine.close());

  const lockNode = (tx: Tx, host: string) => lockWithoutWaiting(tx, 'nodes', 'host', host);

  test('keeps a host on which a server is being placed', async () => {
    const { store } = coreOf(engine);
    const { node, service } = (await engine.hosts.map()).hosts.get('host2')!;
    const amounts = requiredAmounts(server.flavor, serverContentOf(server));
    let deletion: Promise<readonly PromiseSettledResult<void>[]> | undefined;
    await store.transaction(async (tx) => {
      expect(await claim(tx, node, amounts)).toBe(true);
      deletion ??= Promise.allSettled([engine.services.delete(service.id)]);
      await waitForLockWaits(store);
      const { id: _, seq: __, revision: ___, ...fields } = server;
      const placed = { host: 'host2', node: 'host2', claims: [{ host: 'host2', ...amounts }] };
      await tables.servers.insert(tx, { ...fields, ...placed, id: 'placed' });
    });
    expect(await deletion).toMatchObject([{ status: 'rejected', reason: { code: 'CONFLICT' } }]);
    expect((await engine.hosts.map()).hosts.has('host2')).toBe(true);
    await checkInvariants(engine);
  });

  it('rejects a forced move to a host that was deleted after the hosts were read', async () => {
    const core = coreOf(engine);
    const map = await core.infrastructure.hosts();
    const { service } = await engine.services.on('host2', 'nova-compute');
    await engine.services.delete(service.id);
    const destination = { flavor: server.flavor, host: 'host2', force: true };
    const move = core.store.transaction((tx) => claimDestination(tx, core, map, server, destination));
    await expect(move).rejects.toMatchObject({ code: 'NO_VALID_HOST' });
  });

  test('releases claims on several hosts while no other transaction changes claims on several hosts', async () => {
    const { store } = coreOf(engine);
    const [firstClaim] = server.claims;
    const claims = [firstClaim!, { ...firstClaim!, host: 'host2' }];
    let release: Promise<unknown> | undefined;
    await store.transaction(async (tx) => {
      await lockName(tx, 'claims');
      release ??= store.transaction((other) => keepOnlyClaim(other, { ...server, claims }, undefined));
      await waitForLockWaits(store);
      for (const host of ['host1', 'host2']) await lockNode(tx, host);
    });
    expect(await release).toEqual({ claims: [] });
  });

  test('evacuates a server while no other transaction changes the claims on several hosts', async () => {
    const { store } = coreOf(engine);
    const { service } = await engine.services.on('host1', 'nova-compute');
    await engine.services.update(service.id, { forcedDown: true });
    await store.transaction(async (tx) => {
      await lockName(tx, 'claims');
      await engine.servers.act(admin(), server.id, 'evacuate', { stop: true });
      await waitForLockWaits(store);
      for (const host of ['host1', 'host2']) await lockNode(tx, host);
    });
    await engine.idle();
    expect(await engine.servers.get(admin(), server.id)).toMatchObject({ host: 'host2', fault: null });
  });
});
