import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Engine } from '../src/engine/engine.js';
import { registerHost } from '../src/hosts/register-host.js';
import type { DriverOffer, Node } from '../src/model/index.js';
import { createInventory } from '../src/scheduler/inventories.js';
import { tables } from '../src/schema/tables.js';
import { engineUnderTest } from './engine-under-test.js';
import { type StoreUnderTest, storesUnderTest } from './stores-under-test.js';

const host = { name: 'own', vcpus: 4, memoryMb: 1024, diskGb: 10, traits: ['CUSTOM_OWN'] };
const licenses = (total: number): DriverOffer => ({
  traits: ['HW_CPU_X86_AVX'],
  inventories: { CUSTOM_LICENCE: createInventory({ total }) },
  capabilities: { slots: total },
  cpuInfo: {
    arch: 'x86_64',
    model: `model ${total}`,
    vendor: 'AMD',
    features: ['avx2'],
    topology: { cells: 1, sockets: 1, cores: total, threads: 2 },
  },
});

describe.each(storesUnderTest(inject('postgresUrl')))('what a driver offers, on $kind,', ({ open }) => {
  let opened: Awaited<ReturnType<StoreUnderTest['open']>>;
  let folder: string;
  let engine: Engine | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'apistrata-offer-'));
    opened = await open();
  });
  afterEach(async () => {
    await engine?.close();
    engine = undefined;
    await rm(folder, { recursive: true });
  });

  /** Starts the engine again with a driver, and returns its host. */
  async function startedWith(offer: DriverOffer | undefined): Promise<Node | undefined> {
    await engine?.close();
    engine = await engineUnderTest({
      database: opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url,
      preset: { hosts: [{ ...host, inventories: { CUSTOM_OWN: { total: 1 } } }] },
      driver: (clock) => Object.assign(new SimulatedDriver({ clock }), { offer }),
    });
    return (await engine.hosts.map()).hosts.get('own')?.node;
  }

  it('is added to what the preset declares, and renewed when the engine starts', async () => {
    await opened.store.close();
    const first = await startedWith(licenses(1));
    expect(first?.traits).toEqual(expect.arrayContaining(['COMPUTE_NODE', 'CUSTOM_OWN', 'HW_CPU_X86_AVX']));
    expect(first?.inventories).toMatchObject({ CUSTOM_LICENCE: { total: 1 }, CUSTOM_OWN: { total: 1, reserved: 0 } });
    const second = await startedWith({ ...licenses(2), traits: [] });
    expect(second).toMatchObject({ inventories: { CUSTOM_LICENCE: { total: 2 } }, capabilities: { slots: 2 } });
    expect([first?.cpuInfo, second?.cpuInfo]).toEqual([licenses(1).cpuInfo, licenses(2).cpuInfo]);
    expect(second?.traits).not.toContain('HW_CPU_X86_AVX');
  });

  it('does not change hosts if the driver declares nothing', async () => {
    await opened.store.close();
    await startedWith(undefined);
    await engine?.hosts.setOffer('own', { traits: ['CUSTOM_WRITTEN'] });
    expect((await startedWith(undefined))?.traits).toEqual(['CUSTOM_WRITTEN']);
  });

  it('is declared by host processes when they start', async () => {
    const { store } = opened;
    const process = { driver: 'simulated', cannot: [], canMove: true, snapshotFormat: null };
    const register = (offer: DriverOffer, removed?: readonly string[]) =>
      registerHost(store, { seed: host, offer, address: '192.0.2.1', process, now: Date.now(), removed });
    const declared = async () => {
      const [node] = await tables.nodes.find(store);
      return { capabilities: node?.capabilities, cpuInfo: node?.cpuInfo };
    };
    const declaration = ({ capabilities, cpuInfo }: DriverOffer) => ({ capabilities, cpuInfo });
    await register(licenses(1), []);
    expect(await declared()).toEqual(declaration(licenses(1)));
    await register(licenses(2));
    expect(await declared()).toEqual(declaration(licenses(1)));
    await register(licenses(2), []);
    expect(await declared()).toEqual(declaration(licenses(2)));
    await store.close();
  });
});
