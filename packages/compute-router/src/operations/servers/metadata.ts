import { object } from '@apistrata/microversion/schema';
import { BadRequest } from '../../http/bad-request.js';
import { operation } from '../../operation.js';
import { textMap } from '../../schemas/reply-types.js';
import * as type from '../../schemas/types.js';
import { parentServer } from './target.js';

const all = '/servers/{server_id}/metadata';
const one = '/servers/{server_id}/metadata/{id}';

const items = object({ metadata: type.metadata });
const item = object({
  meta: type.metadata.refine((meta) => Object.keys(meta).length === 1, {
    message: 'There must be exactly one metadata item',
  }),
});

export const serverMetadata = [
  operation({
    method: 'GET',
    path: all,
    summary: 'List the metadata of a server',
    policy: 'os_compute_api:server-metadata:index',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { metadata: textMap },
    run: ({ target }) => ({ metadata: target.metadata }),
  }),
  operation({
    method: 'POST',
    path: all,
    summary: 'Add or replace metadata items of a server',
    policy: 'os_compute_api:server-metadata:create',
    status: 200,
    errors: [403, 404, 409],
    body: items,
    target: parentServer,
    reply: { metadata: textMap },
    run: async ({ engine, context, target, body }) => ({
      metadata: await engine.serverMetadata.merge(context, target.id, body.metadata),
    }),
  }),
  operation({
    method: 'PUT',
    path: all,
    summary: 'Replace the metadata of a server',
    policy: 'os_compute_api:server-metadata:update_all',
    status: 200,
    errors: [403, 404, 409],
    body: items,
    target: parentServer,
    reply: { metadata: textMap },
    run: async ({ engine, context, target, body }) => ({
      metadata: await engine.serverMetadata.replace(context, target.id, body.metadata),
    }),
  }),
  operation({
    method: 'GET',
    path: one,
    summary: 'Show a metadata item of a server',
    policy: 'os_compute_api:server-metadata:show',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { meta: textMap },
    run: ({ engine, target, params }) => ({ meta: { [params.id]: engine.serverMetadata.item(target, params.id) } }),
  }),
  operation({
    method: 'PUT',
    path: one,
    summary: 'Set a metadata item of a server',
    policy: 'os_compute_api:server-metadata:update',
    status: 200,
    errors: [400, 403, 404, 409],
    body: item,
    target: parentServer,
    reply: { meta: textMap },
    run: async ({ engine, context, target, params, body }) => {
      if (!Object.hasOwn(body.meta, params.id)) throw new BadRequest('Request body and URI mismatch');
      await engine.serverMetadata.merge(context, target.id, body.meta);
      return { meta: body.meta };
    },
  }),
  operation({
    method: 'DELETE',
    path: one,
    summary: 'Delete a metadata item of a server',
    policy: 'os_compute_api:server-metadata:delete',
    status: 204,
    errors: [404, 409],
    target: parentServer,
    run: ({ engine, context, target, params }) => engine.serverMetadata.remove(context, target.id, params.id),
  }),
];
