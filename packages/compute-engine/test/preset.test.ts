import { describe, expect, inject, it } from 'vitest';
import { createEngine, defaultPreset, InvalidPreset, type Preset } from '../src/index.js';
import { parsePreset, presetJsonSchema } from '../src/preset/index.js';
import { storesUnderTest } from './stores-under-test.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e8620';
const VOLUME = '70a599e0-31e7-49b7-b260-868f441e8621';

describe('a preset', () => {
  it('that is built in is one that files may hold', () => {
    expect(parsePreset(JSON.parse(JSON.stringify(defaultPreset)))).toEqual(defaultPreset);
  });

  it.each([
    [{ hosts: [{ name: 'h', vcpus: 0, memoryMb: 1, diskGb: 1 }] }, 'hosts.0.vcpus'],
    [{ images: [{ id: IMAGE, status: 'activ' }] }, 'images.0.status'],
    [{ volumes: [{ id: VOLUME, projectId: 'p', sizeGb: 1, size: 2 }] }, 'volumes.0'],
    [{ flavours: [] }, ''],
    [{ networks: [{ id: IMAGE, subnets: [{ cidr: '10.0.0.0' }] }] }, 'networks.0.subnets.0.cidr'],
  ])('that cannot be is refused with the path of its fault: %j', async (wrong, path) => {
    const preset = wrong as Preset;
    await expect(createEngine({ preset })).rejects.toMatchObject({
      name: 'InvalidPreset',
      code: 'INVALID_PRESET',
      path,
    });
    await expect(createEngine({ preset })).rejects.toThrow(InvalidPreset);
    await expect(createEngine({ preset })).rejects.toThrow(`preset${path && `.${path}`}: `);
  });

  it('may bring rules with patterns, and images with their bytes', () => {
    const preset: Preset = {
      rules: [{ match: { name: /^web/ }, fail: 'no luck' }],
      images: [{ id: IMAGE, content: Buffer.from('bytes') }],
    };
    expect(parsePreset(preset)).toEqual(preset);
  });

  it('has a JSON Schema', () => {
    expect(presetJsonSchema()).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { hosts: { items: { required: ['name', 'vcpus', 'memoryMb', 'diskGb'] } } },
    });
  });
});

describe.each(storesUnderTest(inject('postgresUrl')))('what a preset says on $kind', ({ open }) => {
  it('is there, every field of it', async () => {
    const { store, url } = await open();
    await store.close();
    const preset: Preset = {
      images: [{ id: IMAGE, status: 'deactivated', sizeBytes: 7, checksum: 'c0ffee', visibility: 'public' }],
      volumeTypes: [{ name: 'shared', isPublic: false, description: 'for many' }],
      volumes: [{ id: VOLUME, projectId: 'p', sizeGb: 3, multiattach: true, status: 'error', volumeType: 'shared' }],
    };
    const engine = await createEngine({ database: url, preset });
    const caller = { userId: 'u', projectId: 'p', roles: [], isAdmin: true };
    const { images, volumes } = engine.embedded;
    expect(await images.get(caller, IMAGE)).toMatchObject({ status: 'deactivated', sizeBytes: 7, checksum: 'c0ffee' });
    const volume = { sizeGb: 3, multiattach: true, status: 'error', volumeType: 'shared' };
    expect(await volumes.getVolume(caller, VOLUME)).toMatchObject(volume);
    expect(await volumes.listTypes(caller)).toMatchObject([
      { name: 'shared', isPublic: false, description: 'for many' },
    ]);
    await engine.close();
  });
});
