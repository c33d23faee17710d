import { randomUUID } from 'node:crypto';
import { createEngine, type Engine } from '../src/engine.js';
import type { Catalogs, Context, EngineOptions } from '../src/index.js';
import { COMPUTE_BINARY } from '../src/scheduler/infrastructure.js';
import { tables } from '../src/store/tables.js';

export const imageId = '70a599e0-31e7-49b7-b260-868f441e862b';

/** A caller's context; each call is a request of its own. */
export function contextOf(projectId: string, options: { readonly isAdmin?: boolean } = {}): Context {
  const roles = options.isAdmin ? ['admin', 'member', 'reader'] : ['member', 'reader'];
  return {
    caller: { userId: `user-of-${projectId}`, projectId, roles },
    requestId: `req-${randomUUID()}`,
    isAdmin: options.isAdmin ?? false,
  };
}

/** Two hosts, a flavor, and whatever catalogs the test brings. */
export async function engineUnderTest(
  options: Omit<EngineOptions, 'catalogs'> & { readonly catalogs?: EngineOptions['catalogs'] },
): Promise<Engine> {
  const image = { id: imageId, status: 'active', minRamMb: 0, minDiskGb: 0, properties: {} };
  const engine = await createEngine({
    catalogs: () => ({ images: { get: async () => image } }) as unknown as Catalogs,
    onError: (error) => console.error(error),
    ...options,
  });
  if ((await tables.services.count(engine.store)) === 0) await seed(engine);
  return engine;
}

async function seed({ store, infrastructure, clock }: Engine): Promise<void> {
  await store.transaction(async (tx) => {
    for (const host of ['host1', 'host2']) {
      await tables.services.insert(tx, {
        id: randomUUID(),
        host,
        binary: COMPUTE_BINARY,
        disabled: false,
        disabledReason: null,
        forcedDown: false,
        lastSeenAt: clock.now(),
        embedded: true,
        createdAt: clock.now(),
        updatedAt: null,
      });
      await tables.nodes.insert(tx, {
        id: randomUUID(),
        host,
        hypervisorHostname: `${host}.example`,
        hypervisorType: 'simulated',
        hypervisorVersion: 1,
        hostIp: '127.0.0.1',
        cpuInfo: {},
        vcpus: 64,
        memoryMb: 65536,
        localGb: 2000,
        cpuAllocationRatio: 1,
        ramAllocationRatio: 1,
        diskAllocationRatio: 1,
        createdAt: clock.now(),
      });
    }
    await tables.flavors.insert(tx, {
      id: '1',
      name: 'm1.tiny',
      description: null,
      vcpus: 1,
      memoryMb: 512,
      diskGb: 1,
      ephemeralGb: 0,
      swapMb: 0,
      rxtxFactor: 1,
      isPublic: true,
      disabled: false,
      extraSpecs: {},
      projects: [],
      createdAt: clock.now(),
      updatedAt: null,
    });
    infrastructure.changedIn(tx);
  });
}
