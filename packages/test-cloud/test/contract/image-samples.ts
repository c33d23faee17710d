// Valid requests for the resources of the image service.
import type { Sample, SendRequest } from './resource-contract.js';

export const FORMATS = { disk_format: 'raw', container_format: 'bare' };

let count = 0;

/** Creates a shared image. */
async function image(request: SendRequest) {
  const { body } = await request('POST', '/v2/images', { name: 'shared', ...FORMATS });
  return { image_id: body.id as string };
}

/** Creates a namespace that all projects see. */
async function namespace(request: SendRequest) {
  const name = `namespace ${++count}`;
  await request('POST', '/v2/metadefs/namespaces', { namespace: name, visibility: 'public' });
  return { namespace: name };
}

const property = { title: 'Bus', type: 'string' };

export const SAMPLES: Readonly<Record<string, Sample>> = {
  image: {
    create: () => ({
      name: 'full',
      visibility: 'private',
      protected: false,
      os_hidden: false,
      min_disk: 1,
      min_ram: 64,
      tags: ['a'],
      ...FORMATS,
    }),
  },
  member: {
    parameters: image,
    create: () => ({ member: `project ${++count}` }),
    change: { status: 'accepted' },
  },
  task: {
    create: () => ({
      type: 'import',
      input: { import_from: 'http://127.0.0.1:1/x', import_from_format: 'raw', image_properties: FORMATS },
    }),
  },
  namespace: {
    create: () => ({
      namespace: 'N',
      display_name: 'Full',
      description: 'has contents',
      visibility: 'private',
      protected: false,
      owner: 'lab',
      resource_type_associations: [{ name: 'OS::Nova::Flavor', prefix: 'hw:' }],
      properties: { bus: property },
      objects: [{ name: 'disk', properties: { bus: property } }],
      tags: [{ name: 'fast' }],
    }),
    change: { namespace: 'N', display_name: 'Changed' },
  },
  object: {
    parameters: namespace,
    create: () => ({ name: 'disk', description: 'a disk', required: ['bus'], properties: { bus: property } }),
    change: { name: 'disk' },
  },
  property: {
    parameters: namespace,
    create: () => ({
      name: 'bus',
      ...property,
      description: 'a bus',
      operators: ['<in>'],
      minimum: 1,
      maximum: 5,
      minLength: 1,
      maxLength: 9,
      pattern: '^a',
      enum: ['a', 'b'],
      readonly: false,
      default: 'a',
      items: { type: 'string', enum: ['a'] },
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      additionalItems: false,
    }),
    change: { name: 'bus', ...property },
  },
  resource_type_association: {
    parameters: namespace,
    create: () => ({ name: 'OS::Nova::Flavor', prefix: 'hw:', properties_target: 'image' }),
  },
};
