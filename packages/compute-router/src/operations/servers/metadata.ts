import type { Server } from '@apistrata/compute-engine';
import { metadataOperations } from '../metadata-operations.js';
import { parentServer } from './target.js';

export const serverMetadata = metadataOperations<Server>({
  path: '/servers/{server_id}/metadata',
  target: parentServer,
  items: ({ metadata }) => metadata,
  merge: ({ engine, context }, { id }, items) => engine.serverMetadata.merge(context, id, items),
  replace: ({ engine, context }, { id }, items) => engine.serverMetadata.replace(context, id, items),
  remove: ({ engine, context }, { id }, key) => engine.serverMetadata.remove(context, id, key),
  list: {
    summary: 'List the metadata of a server',
    policy: 'os_compute_api:server-metadata:index',
    errors: [404],
  },
  add: {
    summary: 'Create or update metadata items of a server',
    policy: 'os_compute_api:server-metadata:create',
    errors: [403, 404, 409],
  },
  replaceAll: {
    summary: 'Replace the metadata of a server',
    policy: 'os_compute_api:server-metadata:update_all',
    errors: [403, 404, 409],
  },
  show: {
    summary: 'Show a metadata item of a server',
    policy: 'os_compute_api:server-metadata:show',
    errors: [404],
  },
  set: {
    summary: 'Create or update a metadata item of a server',
    policy: 'os_compute_api:server-metadata:update',
    errors: [400, 403, 404, 409],
  },
  delete: {
    summary: 'Delete a metadata item of a server',
    policy: 'os_compute_api:server-metadata:delete',
    errors: [404, 409],
  },
});
