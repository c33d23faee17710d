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
  const noGuardRemains = () => expect.poll(() => coreOf(engine).worker.pending()).toBe(0);

  it('belong to the server, and no guard remains', async () => {
    const volumeId = await newVolume();
    await create(volumeId);
    await engine.idle();
    expect(await statuses(volumeId)).toEqual(['in-use']);
    await noGuardRemains();
  });

  it('are released immediately if one of them is rejected', async () => {
    const [first, second] = [await newVolume(), await newVolume()];
    const reserve: VolumeCatalog['reserve'] = (caller, requested) =>
      requested.volumeId === second
        ? Promise.reject(new CatalogError('VOLUME_WRONG_STATUS', 'another request was faster'))
        : engine.embedded.volumes.reserve(caller, requested);
    use({ reserve });
    await expect(create(first, second)).rejects.toMatchObject({ status: 400 });
    expect(await statuses(first, second)).toEqual(['available', 'available']);
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });

  it('are released if the service did not respond, regardless of what it did', async () => {
    const [first, second] = [await newVolume(), await newVolume()];
    const reserve: VolumeCatalog['reserve'] = async (caller, request) => {
      const reserved = await engine.embedded.volumes.reserve(caller, request);
      if (request.volumeId === second) throw new CatalogError('UNAVAILABLE', 'no response');
      return reserved;
    };
    use({ reserve });
    await expect(create(first, second)).rejects.toThrow('no response');
    use({});
    await expect.poll(() => statuses(first, second)).toEqual(['available', 'available']);
    await noGuardRemains();
  });

  it('are released if quotas reject the server while the service is unavailable', async () => {
    const volumeId = await newVolume();
    await engine.quotas.set({ projectId: 'p1' }, { instances: 0 }, { force: true });
    use({ deleteAttachment: () => Promise.reject(new CatalogError('UNAVAILABLE', 'away')) });
    await expect(create(volumeId)).rejects.toMatchObject({ status: 403 });
    expect(await statuses(volumeId)).toEqual(['reserved']);
    use({});
    await expect.poll(() => statuses(volumeId)).toEqual(['available']);
    await noGuardRemains();
  });
});
