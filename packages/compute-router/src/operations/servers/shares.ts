import type { Server, ServerShare } from '@apistrata/compute-engine';
import { shareStatusOf } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { described, object, query } from '@apistrata/microversion/schema';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import * as type from '../../schemas/types.js';
import { field, text } from '../../views/fields.js';
import { anyParentServer } from './target.js';

const shareDocs = resource({
  tag: 'shares',
  parameters: { id: 'UUID of the share.' },
  when: { 409: 'The server is not stopped, or the share is in use or not available.' },
});

/** OpenAPI descriptions that several fields share. */
export const shareTexts = {
  shareId: 'UUID of the share.',
  tag: 'Tag that the guest uses to mount the share. Default: the UUID of the share.',
  share: 'A share that is attached to a server.',
} as const;

const listPath = '/servers/{server_id}/shares';
const itemPath = '/servers/{server_id}/shares/{id}';
const window = since('2.97', true);
const noQuery = query({}, { extra: 'reject' });

interface ShownShare {
  readonly server: Server;
  readonly share: ServerShare;
}

const baseFields: ViewShape<ShownShare, ComputeCall> = {
  share_id: text(shareTexts.shareId, ({ share }) => share.shareId),
  status: field(
    'Status of the attachment: `attaching`, `inactive`, `active`, `detaching` or `error`.',
    z.enum(['active', 'inactive', 'attaching', 'detaching', 'error']),
    ({ server, share }) => shareStatusOf(server, share),
  ),
  tag: field(shareTexts.tag, type.idString, ({ share }) => share.tag),
};

const listedShare = view<ShownShare, ComputeCall>(baseFields);

const shownShare = view<ShownShare, ComputeCall>({
  ...baseFields,
  uuid: field('UUID of the attachment. Administrators only.', z.string().optional(), ({ share }, call) =>
    call.context.isAdmin ? share.id : undefined,
  ),
  export_location: field(
    'Location from which the host mounts the share. Administrators only.',
    z.string().optional(),
    ({ share }, call) => (call.context.isAdmin ? (share.exportLocation ?? undefined) : undefined),
  ),
});

export const serverShares = [
  operation({
    ...shareDocs,
    name: 'listServerShares',
    method: 'GET',
    path: listPath,
    window,
    summary: 'List the shares of a server',
    description: 'Lists the shares of a server.',
    policy: 'os_compute_api:os-server-shares:index',
    status: 200,
    errors: [400, 403, 404],
    query: noQuery,
    target: anyParentServer,
    reply: { shares: described('The list of shares.', [listedShare]) },
    run: ({ target }) => ({ shares: target.shares.map((share) => ({ server: target, share })) }),
  }),
  operation({
    ...shareDocs,
    name: 'createServerShare',
    method: 'POST',
    path: listPath,
    window,
    summary: 'Attach a share to a server',
    description:
      'Attaches a share to a server. The server must be `SHUTOFF`. The operation is asynchronous. Poll the share until its status is `inactive` or `error`.',
    policy: 'os_compute_api:os-server-shares:create',
    status: 201,
    errors: [400, 403, 404, 409],
    body: object({
      share: described(
        shareTexts.share,
        object({
          share_id: described(shareTexts.shareId, type.uuid),
          tag: described(shareTexts.tag, type.idString.optional()),
        }),
      ),
    }),
    target: anyParentServer,
    reply: { share: described(shareTexts.share, shownShare) },
    run: async ({ engine, context, target, body }) => {
      const { share_id, tag = share_id } = body.share;
      return {
        share: {
          server: target,
          share: await engine.servers.act(context, target.id, 'attachShare', { shareId: share_id, tag }),
        },
      };
    },
  }),
  operation({
    ...shareDocs,
    name: 'showServerShare',
    method: 'GET',
    path: itemPath,
    window,
    summary: 'Show a share of a server',
    description: 'Shows a share of a server.',
    policy: 'os_compute_api:os-server-shares:show',
    status: 200,
    errors: [400, 403, 404],
    query: noQuery,
    target: anyParentServer,
    reply: { share: described(shareTexts.share, shownShare) },
    run: ({ engine, target, params }) => ({
      share: { server: target, share: engine.serverShares.find(target, params.id) },
    }),
  }),
  operation({
    ...shareDocs,
    name: 'deleteServerShare',
    method: 'DELETE',
    path: itemPath,
    window,
    summary: 'Detach a share from a server',
    description:
      'Detaches a share from a server. The server must be `SHUTOFF` or `ERROR`. The operation is asynchronous; poll the list of shares until it does not contain the share.',
    policy: 'os_compute_api:os-server-shares:delete',
    status: 200,
    errors: [400, 403, 404, 409],
    target: anyParentServer,
    run: ({ engine, context, target, params }) =>
      engine.servers.act(context, target.id, 'detachShare', { shareId: params.id }),
  }),
];
