import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import type { Settings } from '../../src/core/settings.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { createHost, type Host } from '../../src/hosts/index.js';
import type { PowerState, Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

/** Simulated machines that a test can switch off or pause without a command. */
class EndingDriver extends SimulatedDriver {
  readonly off = new Set<string>();
  readonly paused = new Set<string>();
  readonly ids = new Set<string>();
  readonly #listeners = new Set<(id: string) => void>();
  /** Whether the machines ended because their computer was powered off. */
  hostEnded = false;
  /** Whether states of machines are unknown. */
  silent = false;

  async powerState({ id }: Server): Promise<PowerState | null> {
    if (this.silent) return null;
    if (this.paused.has(id)) return 3;
    return this.off.has(id) ? 4 : 1;
  }

  async hasStoppedWithHost(): Promise<boolean> {
    return this.hostEnded;
  }

  onPowerChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  override async machines(): Promise<readonly string[]> {
    return [...this.ids];
  }

  end(id: string, event = true): void {
    this.off.add(id);
    if (event) this.report(id);
  }

  report(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}

const context = () => contextOf('p1');
const admin = () => contextOf('p1', { isAdmin: true });

describe.each(storesUnderTest(inject('postgresUrl')))(
  'machines that stop by themselves, on $kind',
  ({ kind, database }) => {
    const closing: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
    });

    async function cloud(
      driver: EndingDriver,
      given?: string,
      settings: Partial<Settings> = {},
    ): Promise<{ engine: Engine; url: string }> {
      const url = given ?? (await database());
      const engine = await engineUnderTest({ database: url, driver, settings });
      closing.push(() => engine.close());
      return { engine, url };
    }

    async function create(engine: Engine, metadata: Readonly<Record<string, string>> = {}): Promise<Server> {
      const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', metadata } as const;
      const { servers } = await engine.servers.create(context(), newServer);
      await engine.idle();
      return engine.servers.get(context(), servers[0]!.id);
    }

    const states = async (engine: Engine, id: string) => {
      const { vmState, powerState, taskState, jobId } = await engine.servers.get(context(), id);
      return { vmState, powerState, busy: taskState !== null || jobId !== null };
    };
    const stopped = { vmState: 'stopped', powerState: 4, busy: false };

    it('result in stopped servers that can be started, with a stop in the history and notifications', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver);
      const { id } = await create(engine);
      const received: string[] = [];
      engine.on('instance.power_off.*', ({ event_type }) => received.push(event_type));
      driver.end(id);
      await expect.poll(() => states(engine, id)).toEqual(stopped);
      const actions = await engine.instanceActions.list(id);
      expect(actions.map(({ action }) => action).sort()).toEqual(['create', 'stop']);
      await expect.poll(() => received).toEqual(['instance.power_off.start', 'instance.power_off.end']);
      driver.off.delete(id);
      await engine.servers.act(context(), id, 'os-start');
      await expect.poll(() => states(engine, id)).toEqual({ vmState: 'active', powerState: 1, busy: false });
    });

    it('stop paused and locked servers too, and change only the power state of rescued ones', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver);
      const [paused, locked, rescued] = [await create(engine), await create(engine), await create(engine)];
      await engine.servers.act(context(), paused!.id, 'pause');
      await engine.servers.lock(context(), locked!.id, null);
      await engine.servers.act(context(), rescued!.id, 'rescue', { mayBeVolumeBacked: false });
      await engine.idle();
      for (const { id } of [paused!, locked!, rescued!]) driver.end(id);
      await expect.poll(() => states(engine, paused!.id)).toEqual(stopped);
      await expect.poll(() => states(engine, locked!.id)).toEqual(stopped);
      await expect.poll(() => states(engine, rescued!.id)).toEqual({ vmState: 'rescued', powerState: 4, busy: false });
    });

    it.each([
      { setting: false, autostart: undefined, starts: false },
      { setting: true, autostart: undefined, starts: true },
      { setting: false, autostart: 'true', starts: true },
      { setting: true, autostart: 'false', starts: false },
    ])(
      'start again with their computer as configured: $setting, $autostart',
      async ({ setting, autostart, starts }) => {
        const driver = new EndingDriver({ clock: systemClock });
        driver.hostEnded = true;
        const { engine } = await cloud(driver, undefined, { resumeGuestsOnHostBoot: setting });
        const { id } = await create(engine, autostart === undefined ? {} : { autostart });
        driver.end(id);
        const history = async () => (await engine.instanceActions.list(id)).map(({ action }) => action).sort();
        await expect.poll(history).toEqual(['create', starts ? 'start' : 'stop']);
        await expect
          .poll(() => states(engine, id))
          .toEqual(starts ? { vmState: 'active', powerState: 1, busy: false } : stopped);
      },
    );

    it('change only their power state while their hypervisor has paused them', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver);
      const { id } = await create(engine);
      driver.paused.add(id);
      driver.report(id);
      await expect.poll(() => states(engine, id)).toEqual({ vmState: 'active', powerState: 3, busy: false });
      driver.paused.clear();
      driver.report(id);
      await expect.poll(() => states(engine, id)).toEqual({ vmState: 'active', powerState: 1, busy: false });
      expect((await engine.instanceActions.list(id)).map(({ action }) => action)).toEqual(['create']);
    });

    it('do not start again if they ended by themselves, or were paused', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver, undefined, { resumeGuestsOnHostBoot: true });
      const [ended, paused] = [await create(engine), await create(engine)];
      driver.end(ended.id);
      await expect.poll(() => states(engine, ended.id)).toEqual(stopped);
      driver.hostEnded = true;
      await engine.servers.act(context(), paused.id, 'pause');
      await engine.idle();
      driver.end(paused.id);
      await expect.poll(() => states(engine, paused.id)).toEqual(stopped);
    });

    it('are detected when the engine starts again', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const folder = mkdtempSync(join(tmpdir(), 'apistrata-power-'));
      closing.push(async () => rmSync(folder, { recursive: true, force: true }));
      const { engine, url } = await cloud(driver, kind === 'SQLite' ? join(folder, 'cloud.db') : undefined);
      const { id } = await create(engine);
      await closing.pop()!();
      driver.end(id, false);
      driver.ids.add(id);
      const again = await cloud(driver, url);
      await expect.poll(() => states(again.engine, id)).toEqual(stopped);
    });

    it('change nothing while a task is in progress, or after the machine runs again', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver);
      const { id } = await create(engine);
      const rule = driver.addRule({ match: { verb: 'reboot' }, hang: true });
      await engine.servers.act(context(), id, 'rebootHard');
      await expect.poll(() => rule.calls).toBe(1);
      driver.end(id);
      // Long enough for several checks of the server.
      await sleep(1_200);
      expect((await engine.servers.get(context(), id)).taskState).toBe('reboot_started_hard');
      driver.off.delete(id);
      rule.release();
      await expect.poll(() => states(engine, id)).toEqual({ vmState: 'active', powerState: 1, busy: false });
      const actions = await engine.instanceActions.list(id);
      expect(actions.map(({ action }) => action)).not.toContain('stop');
    });

    it('are checked again while their state is unknown', async () => {
      const driver = new EndingDriver({ clock: systemClock });
      const { engine } = await cloud(driver);
      const { id } = await create(engine);
      driver.silent = true;
      driver.end(id);
      await sleep(200);
      driver.silent = false;
      await expect.poll(() => states(engine, id)).toEqual(stopped);
    });
  },
);

describe.runIf(inject('postgresUrl'))('machines of a host process', () => {
  it('are followed by an API process', async () => {
    const postgres = storesUnderTest(inject('postgresUrl')).find(({ kind }) => kind === 'PostgreSQL')!;
    const url = await postgres.database();
    const driver = new EndingDriver({ clock: systemClock });
    const key = { secretKey: Buffer.alloc(32, 7).toString('base64') };
    const { noMachines } = await import('../../src/drivers/no-machines.js');
    const preset = { ...defaultPreset, hosts: [] };
    const engine = await engineUnderTest({ database: url, driver: noMachines(), preset, ...key });
    let host: Host | undefined;
    try {
      host = await createHost({ database: url, name: 'h1', driver, heartbeatMs: 500, ...key });
      const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'h1' } as const;
      const { servers } = await engine.servers.create(admin(), newServer);
      const id = servers[0]!.id;
      const state = async () => (await engine.servers.get(admin(), id)).vmState;
      await expect.poll(state).toBe('active');
      driver.end(id);
      await expect.poll(state).toBe('stopped');
    } finally {
      await host?.stop();
      await engine.close();
    }
  });
});
