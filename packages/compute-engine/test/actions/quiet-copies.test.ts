import type { VolumeStorage } from '@apistrata/catalogs';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { PATIENCE_MS } from '../../../../testing/patience.js';
import { type Clock, systemClock } from '../../src/clock/clock.js';
import type { DriverWork } from '../../src/drivers/driver.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Rule } from '../../src/drivers/simulated-rules.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada = contextOf('p1');

/** Images of guests without an agent, with one, and with one that has to be asked. */
const IMAGES = {
  plain: { id: '11111111-1111-4111-8111-111111111111', properties: {} },
  agent: { id: '22222222-2222-4222-8222-222222222222', properties: { hw_qemu_guest_agent: 'yes' } },
  quiet: { id: '33333333-3333-4333-8333-333333333333', properties: { os_require_quiesce: 'True' } },
} as const;

/** Machines and volumes that write down what is done to them once a server is there. */
class Diary extends SimulatedDriver {
  readonly lines: string[] = [];
  /** Waits until the guest was told once more. */
  slow = false;
  /** Fails at the second snapshot. */
  full = false;
  /** Whoever wants the guest quiet now. */
  readonly by = new Set<string>();
  /** Copies are of one moment at once, and there when the guest has gone on. */
  lasting = false;
  readonly volumes: VolumeStorage = {
    create: async (_caller, { origin }, taken) => {
      if (origin.kind !== 'copy') return;
      this.lines.push('copy');
      if (this.slow) await eventually(() => expect(this.lines).toContain('quiesce again'));
      if (this.full && this.lines.filter((line) => line === 'copy').length === 2) throw new Error('the disk is full');
      if (!this.lasting) return;
      taken?.();
      await eventually(() => expect(this.lines).toContain('unquiesce'));
      this.lines.push('copied');
    },
    remove: async () => void this.lines.push('remove'),
    extend: async () => {},
    reimage: async () => {},
    replace: async () => {},
    list: async () => [],
  };

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: never): Promise<void> {
    if (work.verb === 'quiesce') this.lines.push(work.again ? 'quiesce again' : 'quiesce');
    if (work.verb === 'unquiesce') this.lines.push('unquiesce');
    if (work.verb === 'quiesce') this.by.add(work.by);
    if (work.verb === 'unquiesce') expect(this.by.delete(work.by)).toBe(true);
    await super.perform(work, server, signal, origin);
  }
}

describe.each(storesUnderTest(inject('postgresUrl')))('images of volume-backed servers on $kind', ({ database }) => {
  let engine: Engine;
  let driver: Diary;
  /** While copies are slow, a third of a minute is over in a moment. */
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(driver.slow && ms === 20_000 ? 5 : ms, signal),
  };
  afterEach(() => engine.close());

  async function boot(image: keyof typeof IMAGES, ...rules: readonly Rule[]): Promise<string> {
    return bootOn(new Diary({ clock: systemClock, rules }), image);
  }

  async function bootOn(on: Diary, image: keyof typeof IMAGES): Promise<string> {
    driver = on;
    const images = Object.entries(IMAGES).map(([name, fields]) => ({ name, diskFormat: 'raw' as const, ...fields }));
    const preset = { ...defaultPreset, images };
    engine = await createEngine({ database: await database(), driver, preset, clock });
    const device = { source: 'image', destination: 'volume', sourceId: IMAGES[image].id, size: 1 } as const;
    const devices = [
      { ...device, bootIndex: 0 },
      { ...device, bootIndex: -1 },
    ];
    const wanted = { name: 'from-volumes', flavorId: '1', networks: 'none', devices } as const;
    const { servers } = await engine.servers.create(ada, wanted);
    await engine.idle();
    expect(await engine.servers.get(ada, servers[0]!.id)).toMatchObject({ vmState: 'active', fault: null });
    return servers[0]!.id;
  }

  const copy = (id: string) =>
    engine.servers.act(ada, id, 'createImage', { name: 'copy', metadata: {}, limitMetadata: true });
  const left = async () => {
    const images = await engine.catalogs.images.list(ada.caller, {});
    const snapshots = await engine.embedded.volumes.listSnapshots(ada.caller);
    return [images.filter(({ name }) => name === 'copy').length, snapshots.length];
  };

  it('are made of copies of one moment where there is an agent in the guest, which goes on afterwards', async () => {
    await copy(await boot('agent'));
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce']);
    expect(await left()).toEqual([1, 2]);
  });

  it('do not bother guests without one, nor those that are off', async () => {
    await copy(await boot('plain'));
    expect(driver.lines).toEqual(['copy', 'copy']);
    await engine.close();
    const id = await boot('quiet');
    await engine.servers.act(ada, id, 'os-stop');
    await engine.idle();
    await copy(id);
    expect(driver.lines).toEqual(['copy', 'copy']);
  });

  it('are made without where the guest cannot, unless the image requires it', async () => {
    await copy(await boot('agent', { match: { verb: 'quiesce' }, fail: 'deaf' }));
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy']);
    await engine.close();
    const id = await boot('quiet', { match: { verb: 'quiesce' }, fail: 'deaf' });
    await expect(copy(id)).rejects.toMatchObject({ code: 'CONFLICT', message: /Failed to quiesce instance/ });
    expect(driver.lines).toEqual(['quiesce']);
    expect(await left()).toEqual([0, 0]);
  });

  it('have the guest stay quiet until all of them are of one moment', async () => {
    const id = await boot('quiet');
    driver.slow = true;
    await copy(id);
    const others = driver.lines.filter((line) => line !== 'quiesce again');
    expect(others).toEqual(['quiesce', 'copy', 'copy', 'unquiesce']);
    // Once while they take their time, and once when that is over.
    expect(driver.lines.length - others.length).toBeGreaterThan(1);
    expect(driver.lines.slice(-2)).toEqual(['quiesce again', 'unquiesce']);
  });

  it('have it quiet no longer than that, however long they take', async () => {
    const id = await boot('agent');
    driver.lasting = true;
    await copy(id);
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce', 'copied', 'copied']);
    expect(await left()).toEqual([1, 2]);
  });

  it('say for which of several the guest is to be quiet', async () => {
    const id = await boot('agent');
    driver.slow = true;
    const most: number[] = [];
    await Promise.all([
      copy(id),
      copy(id),
      expect.poll(() => most.push(driver.by.size) && Math.max(...most), { timeout: PATIENCE_MS, interval: 1 }).toBe(2),
    ]);
    expect(driver.by.size).toBe(0);
    expect(await left()).toEqual([2, 4]);
  });

  it('are refused where no machine can be quiet, and the image requires it', async () => {
    const id = await bootOn(new Diary({ clock: systemClock, unsupported: ['quiesce'] }), 'quiet');
    await expect(copy(id)).rejects.toMatchObject({ code: 'BAD_REQUEST', message: /Quiescing is not supported/ });
    expect(await left()).toEqual([0, 0]);
  });

  it('are given up, with what was copied, where the guest has gone on before the end', async () => {
    const id = await boot('quiet', { match: { verb: 'quiesce' }, fromCall: 2, fail: 'it has gone on' });
    await expect(copy(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'quiesce again', 'unquiesce', 'remove', 'remove']);
    expect(await left()).toEqual([0, 0]);
  });

  it('let the guest go on, and leave no snapshot, where one of them fails', async () => {
    const id = await boot('agent');
    driver.full = true;
    await expect(copy(id)).rejects.toThrow();
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce', 'remove']);
    expect(await left()).toEqual([0, 0]);
  });

  it('are made where the guest cannot be told to go on: it does so by itself', async () => {
    await copy(await boot('agent', { match: { verb: 'unquiesce' }, fail: 'unreachable' }));
    expect(await left()).toEqual([1, 2]);
  });
});
