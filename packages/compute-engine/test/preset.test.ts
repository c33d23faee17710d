import { describe, expect, inject, it } from 'vitest';
import { createEngine, defaultPreset, InvalidPreset, type Preset } from '../src/index.js';
import { parsePreset, presetJsonSchema } from '../src/preset/index.js';
import { storesUnderTest } from './stores-under-test.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e8620';
const VOLUME = '70a599e0-31e7-49b7-b260-868f441e8621';

const host = { name: 'h', vcpus: 1, memoryMb: 1, diskGb: 1 };

describe('a preset', () => {
  it('that is built in can be written to a JSON file and read again', () => {
    expect(parsePreset(JSON.parse(JSON.stringify(defaultPreset)))).toEqual(defaultPreset);
  });

  it.each([
    [{ hosts: [{ name: 'h', vcpus: 0, memoryMb: 1, diskGb: 1 }] }, 'hosts.0.vcpus'],
    [{ hosts: [{ ...host, traits: ['COMPUTE_NODE', 'FAST'] }] }, 'hosts.0.traits.1'],
    [{ hosts: [{ ...host, inventories: { LICENCE: { total: 1 } } }] }, 'hosts.0.inventories.LICENCE'],
    [{ hosts: [{ ...host, inventories: { CUSTOM_A: { total: 0 } } }] }, 'hosts.0.inventories.CUSTOM_A.total'],
    [{ hosts: [{ ...host, capabilities: { a: null } }] }, 'hosts.0.capabilities.a'],
    [{ images: [{ id: IMAGE, status: 'activ' }] }, 'images.0.status'],
    [{ volumes: [{ id: VOLUME, projectId: 'p', sizeGb: 1, size: 2 }] }, 'volumes.0'],
    [{ flavours: [] }, ''],
    [{ networks: [{ id: IMAGE, subnets: [{ cidr: '10.0.0.0' }] }] }, 'networks.0.subnets.0.cidr'],
  ])('is rejected with the path of the error if it is invalid: %j', async (wrong, path) => {
    const preset = wrong as Preset;
    await expect(createEngine({ preset })).rejects.toMatchObject({
      name: 'InvalidPreset',
      code: 'INVALID_PRESET',
      path,
    });
    await expect(createEngine({ preset })).rejects.toThrow(InvalidPreset);
    await expect(createEngine({ preset })).rejects.toThrow(`preset${path && `.${path}`}: `);
  });

  it('reports the valid names if a resource class or a trait is unknown', () => {
    const withHost = (more: object) => () => parsePreset({ hosts: [{ ...host, ...more }] });
    expect(withHost({ traits: ['FAST'] })).toThrow('hosts.0.traits.0: must be a standard trait, or start with CUSTOM_');
    expect(withHost({ inventories: { A: { total: 1 } } })).toThrow(
      'hosts.0.inventories.A: must be a standard resource class, or start with CUSTOM_',
    );
  });

  it('may contain rules with patterns, and images with their bytes', () => {
    const preset: Preset = {
      rules: [{ match: { name: /^web/ }, fail: 'no luck' }],
      images: [{ id: IMAGE, content: Buffer.from('bytes') }],
    };
    expect(parsePreset(preset)).toEqual(preset);
  });

  it('declares the address of a host, which otherwise has an example address', async () => {
    const engine = await createEngine({
      preset: {
        hosts: [
          { ...host, address: '198.51.100.7' },
          { ...host, name: 'i' },
        ],
      },
    });
    const addresses = (await engine.hypervisors.list()).map((one) => one.host.node.hostIp);
    await engine.close();
    expect(addresses).toEqual(['198.51.100.7', '192.0.2.2']);
  });

  it('has a JSON Schema', () => {
    expect(presetJsonSchema()).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { hosts: { items: { required: ['name', 'vcpus', 'memoryMb', 'diskGb'] } } },
    });
  });
});

describe.each(storesUnderTest(inject('postgresUrl')))('the content of a preset on $kind', ({ open }) => {
  it('exists with every field', async () => {
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
