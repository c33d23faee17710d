import { randomUUID } from 'node:crypto';
import { CatalogError, type VolumeCatalog } from '@apistrata/catalogs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('volumes for a new server, on $kind,', ({ database }) => {
  let engine: Engine;
  const context = contextOf('p1');
  beforeEach(async () => {
    const url = await database();
    engine = await engineUnderTest({ database: url, worker: { pollMs: 10, retryMs: 10 }, onError: () => {} });
  });
  afterEach(() => engine.close());

  const newVolume = async () =>
    (await engine.embedded.volumes.createVolume(context.caller, { key: randomUUID(), sizeGb: 1 })).id;
  const statuses = async (...ids: string[]) =>
    Promise.all(ids.map(async (id) => (await engine.embedded.volumes.getVolume(context.caller, id)).status));
  const use = (changed: Partial<VolumeCatalog>) =>
    Object.assign(engine.catalogs, { volumes: { ...engine.embedded.volumes, ...changed } });
  const create = (...volumeIds: string[]) =>
    engine.servers.create(context, {
      name: 'web',
      flavorId: '1',
      imageId,
      networks: 'none',
      devices: [
        { source: 'image', sourceId: imageId, destination: 'local', bootIndex: 0 },
        ...volumeIds.map((sourceId) => ({ source: 'volume', sourceId, destination: 'volume' }) as const),
      ],
    });
  const nothingIsOwed = () => expect.poll(() => coreOf(engine).worker.pending()).toBe(0);

  it('are its own, and no guard is left', async () => {
    const volumeId = await newVolume();
    await create(volumeId);
    await engine.idle();
    expect(await statuses(volumeId)).toEqual(['in-use']);
    await nothingIsOwed();
  });

  it('are free at once when one of them is refused', async () => {
    const [first, second] = [await newVolume(), await newVolume()];
    const reserve: VolumeCatalog['reserve'] = (caller, asked) =>
      asked.volumeId === second
        ? Promise.reject(new CatalogError('VOLUME_WRONG_STATUS', 'somebody was faster'))
        : engine.embedded.volumes.reserve(caller, asked);
    use({ reserve });
    await expect(create(first, second)).rejects.toMatchObject({ status: 400 });
    expect(await statuses(first, second)).toEqual(['available', 'available']);
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });

  it('are free again when the service did not answer, whatever it had done', async () => {
    const [first, second] = [await newVolume(), await newVolume()];
    const reserve: VolumeCatalog['reserve'] = async (caller, asked) => {
      const made = await engine.embedded.volumes.reserve(caller, asked);
      if (asked.volumeId === second) throw new CatalogError('UNAVAILABLE', 'no answer');
      return made;
    };
    use({ reserve });
    await expect(create(first, second)).rejects.toThrow('no answer');
    use({});
    await expect.poll(() => statuses(first, second)).toEqual(['available', 'available']);
    await nothingIsOwed();
  });

  it('are free again when quotas refuse the server and the service is away meanwhile', async () => {
    const volumeId = await newVolume();
    await engine.quotas.set({ projectId: 'p1' }, { instances: 0 }, { force: true });
    use({ deleteAttachment: () => Promise.reject(new CatalogError('UNAVAILABLE', 'away')) });
    await expect(create(volumeId)).rejects.toMatchObject({ status: 403 });
    expect(await statuses(volumeId)).toEqual(['reserved']);
    use({});
    await expect.poll(() => statuses(volumeId)).toEqual(['available']);
    await nothingIsOwed();
  });
});
