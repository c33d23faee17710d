import { httpImages, httpNetworks, httpVolumes, ServiceSession } from '@apistrata/catalogs/http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import { createEngine } from '../src/engine/create-engine.js';

const credentials = { authUrl: 'http://identity', username: 'nova', password: 'secret', projectName: 'service' };

describe('an unknown option', () => {
  it.each([
    [{ databse: 'cloud.db' }, 'createEngine(): unknown option "databse" (known: '],
    [{ settings: { reclaimSecond: 1 } }, 'createEngine(): settings: unknown option "reclaimSecond"'],
    [{ settings: { quotas: { instance: 1 } } }, 'createEngine(): settings.quotas: unknown option "instance"'],
    [{ worker: { lease: 1 } }, 'createEngine(): worker: unknown option "lease"'],
    [{ catalogs: { image: {} } }, 'createEngine(): catalogs: unknown option "image"'],
    [{ preset: { flavours: [] } }, 'preset: Unrecognized key: "flavours"'],
    [{ constructor: 1 }, 'createEngine(): unknown option "constructor"'],
  ])('of the engine is rejected before anything is opened: %j', async (options, message) => {
    await expect(createEngine(options as never)).rejects.toThrow(message);
  });

  it('of a driver or a catalog is rejected', () => {
    const session = new ServiceSession(credentials);
    const wrong: readonly (readonly [string, () => unknown])[] = [
      ['latency', () => new SimulatedDriver({ clock: systemClock, latency: 5 } as never)],
      ['user', () => new ServiceSession({ ...credentials, user: 'nova' } as never)],
      ['timeout', () => new ServiceSession(credentials, { timeout: 5 } as never)],
      ['timeout', () => httpImages({ url: 'http://images', session, timeout: 5 } as never)],
      ['timeout', () => httpNetworks({ url: 'http://networks', session, timeout: 5 } as never)],
      ['uploadTimeoutMs', () => httpVolumes({ url: 'http://volumes', session, uploadTimeoutMs: 5 } as never)],
    ];
    for (const [name, make] of wrong) expect(make).toThrow(`unknown option "${name}"`);
    expect(httpImages({ url: 'http://images', session, uploadTimeoutMs: 5 })).toBeDefined();
  });
});
