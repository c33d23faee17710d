import type { Keypair } from '@apistrata/compute-engine';
import { at, since, until } from '@apistrata/microversion';
import { described, object, one, query } from '@apistrata/microversion/schema';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { nextLink, pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import * as type from '../schemas/reply-types.js';
import { storableText } from '../schemas/storable-text.js';
import { keypairName, keypairNameSince292, limitSchema } from '../schemas/types.js';
import { alwaysNull, field, integer, text, time } from '../views/fields.js';

const keypairDocs = resource({
  tag: 'keypairs',
  parameters: { id: 'Name of the key pair.' },
});

/** OpenAPI descriptions that several fields share. */
export const keypairTexts = {
  name: 'Name of the key pair, unique among the key pairs of the user. Since 2.92, it may contain `@` and `.`.',
  publicKey: 'The public key: in OpenSSH format for `ssh`, a PEM certificate for `x509`.',
  type: 'Type of the key pair: `ssh` or `x509`. Default: `ssh`.',
  userId: 'ID of the user who owns the key pair.',
  keypair: 'A key pair.',
} as const;

const keypairType = z.enum(['ssh', 'x509']);

const baseFields: ViewShape<Keypair, ComputeCall> = {
  name: text(keypairTexts.name, (k) => k.name),
  public_key: text(keypairTexts.publicKey, (k) => k.publicKey),
  fingerprint: text('Fingerprint of the public key.', (k) => k.fingerprint),
  type: since(
    '2.2',
    field(keypairTexts.type, keypairType, (k) => k.type),
  ),
};

/** The representation of a key pair in lists. Its JSON does not depend on the request, so it is cached. */
const listedKeypair = view<Keypair, ComputeCall>(baseFields, { cacheKey: () => '' });

const shownKeypair = view<Keypair, ComputeCall>({
  ...baseFields,
  user_id: text(keypairTexts.userId, (k) => k.userId),
  created_at: time(commonTexts.createdAt, (k) => k.createdAt),
  deleted: field(commonTexts.deleted, z.literal(false), () => false as const),
  deleted_at: alwaysNull(commonTexts.deletedAt),
  updated_at: alwaysNull(commonTexts.updatedAt),
  id: integer('Integer ID of the key pair in the database.', (k) => k.seq),
});

const createdKeypair = view<Keypair & { readonly privateKey: string | undefined }, ComputeCall>({
  ...baseFields,
  user_id: text(keypairTexts.userId, (k) => k.userId),
  private_key: until(
    '2.91',
    field(
      'The generated private key. It is returned only in this response and never stored.',
      z.string().optional(),
      (k) => k.privateKey,
    ),
  ),
});

/** Since 2.35, key pair lists are paged. */
const supportsPaging = since('2.35', true);

const userQuery = {
  user_id: since(
    '2.10',
    described(
      'ID of the user who owns the key pairs. Administrators only. Default: the caller.',
      one(storableText, 'first'),
    ),
  ),
};
const extraParameters = rejectedSince275;

/** Returns the id of the user who owns the key pairs: since 2.10, the user in the query, otherwise the caller. */
function ownerOf({ caller, query }: { caller: { userId: string }; query: { user_id?: string } }) {
  return { userId: query.user_id ?? caller.userId };
}

export const keypairOperations = [
  operation({
    ...keypairDocs,
    name: 'listKeypairs',
    method: 'GET',
    path: '/os-keypairs',
    summary: 'List key pairs',
    description: "Lists the caller's key pairs. Administrators can list the key pairs of other users.",
    policy: 'os_compute_api:os-keypairs:index',
    status: 200,
    errors: [until('2.34', []), since('2.35', [400])],
    query: query(
      {
        ...userQuery,
        limit: since('2.35', described(commonTexts.limit, one(limitSchema))),
        marker: since(
          '2.35',
          described(
            'Name of the last key pair on the previous page. If it does not exist, the response is 400.',
            one(z.string()),
          ),
        ),
      },
      { extra: extraParameters },
    ),
    target: ownerOf,
    reply: {
      keypairs: described('The key pairs on this page.', [{ keypair: described(keypairTexts.keypair, listedKeypair) }]),
      keypairs_links: since(
        '2.35',
        described('Link to the next page. Absent if this page is not full.', type.collectionLinks.optional()),
      ),
    },
    run: async (call) => {
      const { limit, marker } = call.query;
      const size = at(supportsPaging, call.version) ? pageSize(call, limit) : undefined;
      const keypairs = await call.engine.keypairs.list(call.target.userId, { limit: size, marker });
      return {
        keypairs: keypairs.map((keypair) => ({ keypair })),
        keypairs_links: size === undefined ? undefined : nextLink(call, size, keypairs, ({ name }) => name),
      } as never;
    },
  }),
  operation({
    ...keypairDocs,
    name: 'createKeypair',
    method: 'POST',
    path: '/os-keypairs',
    summary: 'Create or import a key pair',
    description:
      'Imports a public key. Until 2.91, a key pair is generated if the public key is absent; only this response contains the private key. Since 2.92, the public key is required.',
    policy: 'os_compute_api:os-keypairs:create',
    status: [until('2.1', 200), since('2.2', 201)],
    errors: [400, 403, 409],
    when: {
      403: 'The policy does not allow the operation, or the quota for key pairs is exceeded.',
      409: 'The user already has a key pair with this name.',
    },
    body: object({
      keypair: described(
        keypairTexts.keypair,
        object({
          name: [
            until('2.91', described(keypairTexts.name, keypairName)),
            since('2.92', described(keypairTexts.name, keypairNameSince292)),
          ],
          public_key: [
            until('2.91', described(keypairTexts.publicKey, z.string().optional())),
            since('2.92', described(keypairTexts.publicKey, z.string())),
          ],
          type: since('2.2', described(keypairTexts.type, keypairType.default('ssh'))),
          user_id: since(
            '2.10',
            described(
              'ID of the user who owns the new key pair. Administrators only. Default: the caller.',
              storableText.optional(),
            ),
          ),
        }),
      ),
    }),
    target: ({ caller, body }) => ({ userId: body.keypair.user_id ?? caller.userId }),
    reply: { keypair: described(keypairTexts.keypair, createdKeypair) },
    run: async ({ engine, context, target, body: { keypair } }) => {
      const result = await engine.keypairs.create(context, {
        userId: target.userId,
        name: keypair.name,
        publicKey: keypair.public_key,
        type: keypair.type ?? 'ssh',
      });
      return { keypair: { ...result.keypair, privateKey: result.privateKey } };
    },
  }),
  operation({
    ...keypairDocs,
    name: 'showKeypair',
    method: 'GET',
    path: '/os-keypairs/{id}',
    summary: 'Show a key pair',
    description: 'Shows a key pair without its private key. Administrators can show key pairs of other users.',
    policy: 'os_compute_api:os-keypairs:show',
    status: 200,
    errors: [404],
    query: query(userQuery, { extra: extraParameters }),
    target: ownerOf,
    reply: { keypair: described(keypairTexts.keypair, shownKeypair) },
    run: async ({ engine, target, params }) => ({ keypair: await engine.keypairs.get(target.userId, params.id) }),
  }),
  operation({
    ...keypairDocs,
    name: 'deleteKeypair',
    method: 'DELETE',
    path: '/os-keypairs/{id}',
    summary: 'Delete a key pair',
    description: 'Deletes a key pair. Servers that were created with the key pair keep the public key.',
    policy: 'os_compute_api:os-keypairs:delete',
    status: [until('2.1', 202), since('2.2', 204)],
    errors: [404],
    query: query(userQuery, { extra: extraParameters }),
    target: ownerOf,
    run: ({ engine, target, params }) => engine.keypairs.delete(target.userId, params.id),
  }),
];
