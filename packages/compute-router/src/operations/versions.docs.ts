import type { Resource } from '../description/resource.js';

export const versionDocs: Resource = {
  tag: 'versions',
  about: 'Which versions of the API there are.',
  parameters: { id: 'Id of a major version, such as `v2.1`' },
  operations: {
    'GET /versions/{id}': [
      'showVersion',
      'One major version with the lowest and the highest microversion that it serves.',
    ],
  },
  fields: {
    'version.id': 'Id of the major version',
    status: '`CURRENT`, or `SUPPORTED` for one that only old clients need',
    'version.version': 'Highest microversion; empty for a version without any',
    'reply.version': 'A major version',
    min_version: 'Lowest microversion; empty for a version without any',
    updated: 'When it was last described anew, UTC',
    'media-types': 'Media types that it speaks',
    'media-types.base': 'The plain media type',
    'media-types.type': 'The same with the name of the API in it',
  },
};

export const extensionDocs: Resource = {
  tag: 'extensions',
  about: 'Names of parts that could once be left out. All are there; microversions took their place.',
  parameters: { id: 'Alias of the extension' },
  operations: {
    'GET /extensions': [
      'listExtensions',
      'All extensions. The list is the same at every version and will not change any more.',
    ],
    'GET /extensions/{id}': ['showExtension', 'One extension.'],
  },
  fields: {
    extensions: 'The extensions',
    extension: 'An extension',
    alias: 'Short name, by which paths name it',
    description: 'What it brought',
    'extensions.links': 'Always empty',
    'extension.links': 'Always empty',
    name: 'Name of the extension',
    namespace: 'Address that once told it from others of the same name',
    updated: 'When it last changed, UTC',
  },
};
