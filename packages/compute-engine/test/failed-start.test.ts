import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../src/drivers/driver.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import { createEngine } from '../src/engine/create-engine.js';
import type { EngineOptions } from '../src/engine/engine-options.js';
import { createInventory } from '../src/scheduler/inventories.js';

/** A driver with which the start fails when the engine begins to watch the host. */
const unwatchable: Partial<Driver> = {
  hostReport: async () => ({ problem: null }),
  onHostChange: () => {
    throw new Error('no events');
  },
};

/** A driver with which the start fails while the preset is stored. */
const unstorable: Partial<Driver> = {
  offer: { inventories: { CUSTOM_A: { ...createInventory({ total: 1 }), total: 1n as never } } },
};

describe('an engine that cannot start', () => {
  let database: string;
  beforeEach(async () => {
    database = join(await mkdtemp(join(tmpdir(), 'apistrata-failed-start-')), 'engine.db');
  });
  afterEach(() => rm(join(database, '..'), { recursive: true }));

  /** Starts an engine, and returns the error and whether the driver was closed. */
  async function failedStart(broken: Partial<Driver>) {
    let closed = false;
    const close = async () => {
      closed = true;
      throw new Error('no hypervisor');
    };
    const driver: EngineOptions['driver'] = (clock) => Object.assign(new SimulatedDriver({ clock }), { close }, broken);
    const error = await createEngine({ database, driver }).then(() => undefined, String);
    return { error, closed };
  }

  it.each([
    ['the preset cannot be stored', unstorable, 'TypeError: Do not know how to serialize a BigInt'],
    ['the driver cannot be watched', unwatchable, 'Error: no events'],
  ])('closes its driver and its database if %s', async (_, broken, error) => {
    expect(await failedStart(broken)).toEqual({ error, closed: true });
    await (await createEngine({ database })).close();
  });

  it('does not open its database if an action exists twice', async () => {
    const actions = [{ name: 'pause' }] as never;
    await expect(createEngine({ database, actions })).rejects.toThrow('the action "pause" already exists');
    await (await createEngine({ database })).close();
  });
});
