import { Rejection } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { described, object, query } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import * as type from '../../schemas/types.js';
import { anyParentServer } from './target.js';

const serverTagDocs = resource({
  tag: 'server-tags',
  parameters: { id: 'The tag.' },
  when: { 409: 'The state of the server does not allow the operation.' },
});

/** OpenAPI descriptions that several fields share. */
export const serverTagTexts = {
  tags: 'At most 50 tags, each with at most 60 characters. A tag must not contain a comma or a slash.',
} as const;

const listPath = '/servers/{server_id}/tags';
const itemPath = '/servers/{server_id}/tags/{id}';
const window = since('2.26', true);
/** Unknown query parameters are ignored at every version. */
const anyQuery = query({}, { extra: 'ignore' });
const tags = z.array(z.string()).max(50);

export const serverTags = [
  operation({
    ...serverTagDocs,
    name: 'listServerTags',
    method: 'GET',
    path: listPath,
    window,
    summary: 'List the tags of a server',
    description: 'Lists the tags of a server.',
    policy: 'os_compute_api:os-server-tags:index',
    status: 200,
    errors: [404],
    query: anyQuery,
    target: anyParentServer,
    reply: { tags: described(serverTagTexts.tags, tags) },
    run: ({ target }) => ({ tags: [...target.tags] }),
  }),
  operation({
    ...serverTagDocs,
    name: 'replaceServerTags',
    method: 'PUT',
    path: listPath,
    window,
    summary: 'Replace the tags of a server',
    description: 'Replaces all tags of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:os-server-tags:update_all',
    status: 200,
    errors: [404, 409],
    body: object({ tags: described(serverTagTexts.tags, z.array(type.tag).max(50)) }),
    target: anyParentServer,
    reply: { tags: described(serverTagTexts.tags, tags) },
    run: async ({ engine, context, target, body }) => ({
      tags: [...(await engine.serverTags.replace(context, target.id, body.tags))],
    }),
  }),
  operation({
    ...serverTagDocs,
    name: 'deleteServerTags',
    method: 'DELETE',
    path: listPath,
    window,
    summary: 'Delete all tags of a server',
    description: 'Deletes all tags of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:os-server-tags:delete_all',
    status: 204,
    errors: [404, 409],
    target: anyParentServer,
    run: async ({ engine, context, target }) => {
      await engine.serverTags.replace(context, target.id, []);
    },
  }),
  operation({
    ...serverTagDocs,
    name: 'checkServerTag',
    method: 'GET',
    path: itemPath,
    window,
    summary: 'Check whether a server has a tag',
    description: 'Checks whether a server has a tag. Returns 204 if the server has the tag, otherwise 404.',
    policy: 'os_compute_api:os-server-tags:show',
    status: 204,
    errors: [404],
    query: anyQuery,
    target: anyParentServer,
    run: ({ engine, target, params }) => engine.serverTags.check(target, params.id),
  }),
  operation({
    ...serverTagDocs,
    name: 'addServerTag',
    method: 'PUT',
    path: itemPath,
    window,
    summary: 'Add a tag to a server',
    description:
      'Adds a tag to a server. Idempotent: returns 201 if the tag was added, or 204 if the server already had the tag. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:os-server-tags:update',
    status: 201,
    errors: [400, 404, 409],
    when: { ...serverTagDocs.when, 400: 'The tag is malformed, or the server already has 50 tags.' },
    body: z.null().optional(),
    target: anyParentServer,
    run: async (call) => {
      const { id } = call.params;
      if (!type.tag.safeParse(id).success)
        throw new Rejection(
          'BAD_REQUEST',
          `Tag '${id}' is invalid. It must be a string without characters '/' and ','. Maximum length is 60.`,
        );
      const added = await call.engine.serverTags.add(call.context, call.target.id, id);
      if (!added) return prepareResponse({ status: 204 });
      const { href } = call.selfLink(`/servers/${call.target.id}/tags/${encodeURIComponent(id)}`);
      return prepareResponse({ headers: { Location: href } });
    },
  }),
  operation({
    ...serverTagDocs,
    name: 'deleteServerTag',
    method: 'DELETE',
    path: itemPath,
    window,
    summary: 'Delete a tag of a server',
    description: 'Deletes a tag of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    policy: 'os_compute_api:os-server-tags:delete',
    status: 204,
    errors: [404, 409],
    target: anyParentServer,
    run: ({ engine, context, target, params }) => engine.serverTags.remove(context, target.id, params.id),
  }),
];
