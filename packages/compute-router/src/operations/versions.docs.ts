import { resource } from '../reference/resource.js';

export const versionDocs = resource({
  tag: 'versions',
  parameters: { id: 'ID of a major version, such as `v2.1`.' },
  fields: {
    'version.id': 'ID of the major version.',
    status: 'Status of the major version: `CURRENT`, or `SUPPORTED` for a version kept for old clients.',
    'version.version': 'Maximum microversion. Empty if the major version has no microversions.',
    'reply.version': 'A major version.',
    min_version: 'Minimum microversion. Empty if the major version has no microversions.',
    updated: 'Time of the last change of this record, in UTC.',
    'media-types': 'Supported media types.',
    'media-types.base': 'Base media type.',
    'media-types.type': 'Media type with the name of the API.',
  },
});

export const extensionDocs = resource({
  tag: 'extensions',
  parameters: { id: 'Alias of the extension.' },
  fields: {
    extensions: 'The list of extensions.',
    extension: 'An extension.',
    alias: 'Alias of the extension, used in paths.',
    description: 'Description of the extension.',
    'extensions.links': 'Always empty.',
    'extension.links': 'Always empty.',
    name: 'Name of the extension.',
    namespace: 'Namespace URL of the extension.',
    updated: 'Time of the last change, in UTC.',
  },
});
