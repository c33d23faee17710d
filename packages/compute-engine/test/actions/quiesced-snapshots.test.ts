import type { VolumeStorage } from '@apistrata/catalogs';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { CONDITION_TIMEOUT_MS } from '../../../../testing/condition-timeout.js';
import { eventually } from '../../../../testing/eventually.js';
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

/** Images whose guests have no agent, have an agent, or must be quiesced. */
const IMAGES = {
  plain: { id: '11111111-1111-4111-8111-111111111111', properties: {} },
  agent: { id: '22222222-2222-4222-8222-222222222222', properties: { hw_qemu_guest_agent: 'yes' } },
  quiet: { id: '33333333-3333-4333-8333-333333333333', properties: { os_require_quiesce: 'True' } },
} as const;

/** Machines and volumes that record commands after a server has been created. */
class RecordingDriver extends SimulatedDriver {
  readonly lines: string[] = [];
  /** Whether copies wait until the freeze has been extended. */
  slow = false;
  /** Whether the second snapshot fails. */
  full = false;
  /** The requesters of the current freeze. */
  readonly by = new Set<string>();
  /** Whether copies become consistent immediately, but complete only after the guest has resumed. */
  lasting = false;
  readonly volumes: VolumeStorage = {
    create: async (_caller, { origin }, onCaptured) => {
      if (origin.kind !== 'copy') return;
      this.lines.push('copy');
      if (this.slow) await eventually(() => expect(this.lines).toContain('quiesce again'));
      if (this.full && this.lines.filter((line) => line === 'copy').length === 2) throw new Error('the disk is full');
      if (!this.lasting) return;
      onCaptured?.();
      await eventually(() => expect(this.lines).toContain('unquiesce'));
      this.lines.push('copied');
    },
    remove: async () => void this.lines.push('remove'),
    extend: async () => {},
    read: async () => undefined,
    reimage: async () => {},
    replace: async () => {},
    list: async () => [],
    usage: async () => undefined,
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
  let driver: RecordingDriver;
  /** A clock that shortens sleeps of 20 s while copies are slow. */
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(driver.slow && ms === 20_000 ? 5 : ms, signal),
  };
  afterEach(() => engine.close());

  async function boot(image: keyof typeof IMAGES, ...rules: readonly Rule[]): Promise<string> {
    return bootOn(new RecordingDriver({ clock: systemClock, rules }), image);
  }

  async function bootOn(on: RecordingDriver, image: keyof typeof IMAGES): Promise<string> {
    driver = on;
    const images = Object.entries(IMAGES).map(([name, fields]) => ({ name, diskFormat: 'raw' as const, ...fields }));
    const preset = { ...defaultPreset, images };
    engine = await createEngine({ database: await database(), driver, preset, clock });
    const device = { source: 'image', destination: 'volume', sourceId: IMAGES[image].id, size: 1 } as const;
    const devices = [
      { ...device, bootIndex: 0 },
      { ...device, bootIndex: -1 },
    ];
    const newServer = { name: 'from-volumes', flavorId: '1', networks: 'none', devices } as const;
    const { servers } = await engine.servers.create(ada, newServer);
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

  it('are captured at one point in time if the guest has an agent, and the guest resumes afterwards', async () => {
    await copy(await boot('agent'));
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce']);
    expect(await left()).toEqual([1, 2]);
  });

  it('do not freeze guests without an agent, nor stopped ones', async () => {
    await copy(await boot('plain'));
    expect(driver.lines).toEqual(['copy', 'copy']);
    await engine.close();
    const id = await boot('quiet');
    await engine.servers.act(ada, id, 'os-stop');
    await engine.idle();
    await copy(id);
    expect(driver.lines).toEqual(['copy', 'copy']);
  });

  it('are created without a freeze if the guest cannot be frozen, unless the image requires it', async () => {
    await copy(await boot('agent', { match: { verb: 'quiesce' }, fail: 'deaf' }));
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy']);
    await engine.close();
    const id = await boot('quiet', { match: { verb: 'quiesce' }, fail: 'deaf' });
    const failure = { code: 'CONFLICT', message: expect.stringMatching(/Failed to quiesce instance/) };
    await expect(copy(id)).rejects.toMatchObject(failure);
    expect(driver.lines).toEqual(['quiesce']);
    expect(await left()).toEqual([0, 0]);
  });

  it('keep the guest frozen until all disks have been captured at one point in time', async () => {
    const id = await boot('quiet');
    driver.slow = true;
    await copy(id);
    const others = driver.lines.filter((line) => line !== 'quiesce again');
    expect(others).toEqual(['quiesce', 'copy', 'copy', 'unquiesce']);
    // The freeze is extended once while the copies are slow, and once at the end.
    expect(driver.lines.length - others.length).toBeGreaterThan(1);
    expect(driver.lines.slice(-2)).toEqual(['quiesce again', 'unquiesce']);
  });

  it('do not keep the guest frozen until slow copies are complete', async () => {
    const id = await boot('agent');
    driver.lasting = true;
    await copy(id);
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce', 'copied', 'copied']);
    expect(await left()).toEqual([1, 2]);
  });

  it('identify the requester of each freeze', async () => {
    const id = await boot('agent');
    driver.slow = true;
    const max: number[] = [];
    await Promise.all([
      copy(id),
      copy(id),
      expect
        .poll(() => max.push(driver.by.size) && Math.max(...max), { timeout: CONDITION_TIMEOUT_MS, interval: 1 })
        .toBe(2),
    ]);
    expect(driver.by.size).toBe(0);
    expect(await left()).toEqual([2, 4]);
  });

  it('are rejected if the image requires a frozen machine, and no machine can be frozen', async () => {
    const id = await bootOn(new RecordingDriver({ clock: systemClock, unsupported: ['quiesce'] }), 'quiet');
    const failure = { code: 'BAD_REQUEST', message: expect.stringMatching(/Quiescing is not supported/) };
    await expect(copy(id)).rejects.toMatchObject(failure);
    expect(await left()).toEqual([0, 0]);
  });

  it('are deleted with all copies if the guest has resumed before the end', async () => {
    const id = await boot('quiet', { match: { verb: 'quiesce' }, fromCall: 2, fail: 'it has resumed' });
    await expect(copy(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'quiesce again', 'unquiesce', 'remove', 'remove']);
    expect(await left()).toEqual([0, 0]);
  });

  it('let the guest resume, and leave no snapshot, if one of them fails', async () => {
    const id = await boot('agent');
    driver.full = true;
    await expect(copy(id)).rejects.toThrow();
    expect(driver.lines).toEqual(['quiesce', 'copy', 'copy', 'unquiesce', 'remove']);
    expect(await left()).toEqual([0, 0]);
  });

  it('are created even if the command to resume is lost: the guest resumes by itself', async () => {
    await copy(await boot('agent', { match: { verb: 'unquiesce' }, fail: 'unreachable' }));
    expect(await left()).toEqual([1, 2]);
  });
});
