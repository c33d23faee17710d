import type { Server } from '@apistrata/compute-engine';
import { resource } from '../../reference/resource.js';
import { metadataOperations } from '../metadata-operations.js';
import { parentServer } from './target.js';

export const serverMetadata = metadataOperations<Server>({
  docs: resource({
    tag: 'server-metadata',
    parameters: { id: 'Key of the metadata item.' },
    when: {
      403: 'The policy does not allow the operation, or the quota for metadata items is exceeded.',
      409: 'The server is locked, or its state does not allow the operation.',
    },
  }),
  metadata:
    'Metadata of the server, as key-value pairs. Keys have 1 to 255 characters: letters, digits, `-`, `_`, `:`, `.` and spaces. Values have at most 255 characters.',
  meta: 'A metadata item: an object with a single key.',
  path: '/servers/{server_id}/metadata',
  target: parentServer,
  items: ({ metadata }) => metadata,
  merge: ({ engine, context }, { id }, items) => engine.serverMetadata.merge(context, id, items),
  replace: ({ engine, context }, { id }, items) => engine.serverMetadata.replace(context, id, items),
  remove: ({ engine, context }, { id }, key) => engine.serverMetadata.remove(context, id, key),
  list: {
    name: 'listServerMetadata',
    summary: 'List the metadata of a server',
    description: 'Lists the metadata of a server.',
    policy: 'os_compute_api:server-metadata:index',
    errors: [404],
  },
  add: {
    name: 'updateServerMetadata',
    summary: 'Create or update metadata items of a server',
    description:
      'Creates or replaces metadata items of a server. Other items are unchanged. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:server-metadata:create',
    errors: [403, 404, 409],
  },
  replaceAll: {
    name: 'replaceServerMetadata',
    summary: 'Replace the metadata of a server',
    description: 'Replaces all metadata of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:server-metadata:update_all',
    errors: [403, 404, 409],
  },
  show: {
    name: 'showServerMetadataItem',
    summary: 'Show a metadata item of a server',
    description: 'Shows a metadata item of a server.',
    policy: 'os_compute_api:server-metadata:show',
    errors: [404],
  },
  set: {
    name: 'updateServerMetadataItem',
    summary: 'Create or update a metadata item of a server',
    description:
      'Creates or replaces a metadata item of a server. The request body has exactly one key, which must equal the key in the path. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:server-metadata:update',
    errors: [400, 403, 404, 409],
  },
  delete: {
    name: 'deleteServerMetadataItem',
    summary: 'Delete a metadata item of a server',
    description:
      'Deletes a metadata item of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:server-metadata:delete',
    errors: [404, 409],
  },
});
