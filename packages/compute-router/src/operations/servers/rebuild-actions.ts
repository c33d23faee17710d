import { at, since } from '@apistrata/microversion';
import { derive, described, object } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import { loadHosts } from '../../http/call.js';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { rebuiltServer } from '../../views/server.js';
import { serverTexts } from '../../views/server-field.js';
import { fieldsOf, recordFieldsOf } from '../../views/server-request-fields.js';
import { plainAction } from './plain-action.js';
import { POLL_SERVER_UNTIL } from './poll.js';
import { serverAction } from './server-docs.js';

const rebuildSchema = object(fieldsOf('rebuild'));

const rescueSchema = object({
  adminPass: described(
    'Administrative password of the rescue system. Default: a generated password.',
    z.string().optional(),
  ),
  rescue_image_ref: described(
    'UUID of the rescue image. Default: the image from which the server was created.',
    type.uuid.optional(),
  ),
  host: since('2.91', described('Host on which to rescue the server. Administrators only.', type.fqdn.optional())),
});

/** Since 2.93, a rebuild can write the image to a root volume. */
const mayReimage = since('2.93', true);
/** Since 2.87, servers whose root disk is a volume can be rescued. */
const mayBeVolumeBacked = since('2.87', true);

/** Server actions that boot a server from a different image. */
export const rebuildActions = [
  operation({
    ...serverAction,
    name: 'rebuildServer',
    action: 'rebuild',
    summary: 'Rebuild a server',
    description: `Rebuilds a server: replaces the content of its root disk with an image. The server keeps its ID, IP addresses and volumes. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`; since 2.93, its root disk can be a volume. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`.`,
    policy: 'os_compute_api:servers:rebuild',
    errors: [400, 403, 404, 409],
    when: {
      403: 'The policy does not allow the operation, or a quota is exceeded.',
      409: 'The status of the server does not allow the operation, the server is locked, or its root disk is a volume that cannot be rebuilt.',
    },
    body: object({ rebuild: described('The new image, and other attributes of the server to change.', rebuildSchema) }),
    reply: { server: described(serverTexts.server, rebuiltServer) },
    load: loadHosts,
    run: async (call) => {
      const { engine, context, target, version } = call;
      const requested = call.body.rebuild;
      if (requested.trusted_image_certificates !== undefined)
        call.require('os_compute_api:servers:rebuild:trusted_certs', target);
      const { server, adminPassword } = await engine.servers.act(context, target.id, 'rebuild', {
        ...recordFieldsOf(requested),
        mayReimage: at(mayReimage, version) ?? false,
      });
      const shownPassword = engine.settings.enableInstancePassword ? adminPassword : null;
      return prepareResponse({
        body: { server: { ...server, adminPassword: shownPassword } },
        headers: { Location: call.selfLink(`/servers/${server.id}`).href },
      });
    },
  }),
  operation({
    ...serverAction,
    name: 'rescueServer',
    action: 'rescue',
    summary: 'Rescue a server',
    description: `Boots a server from a rescue image, with its own root disk attached as an additional disk. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`; since 2.87, its root disk can be a volume. ${POLL_SERVER_UNTIL} its status is \`RESCUE\`.`,
    policy: 'os_compute_api:os-rescue',
    status: 200,
    errors: [400, 404, 409, 501],
    body: object({
      rescue: described(
        'Null, or an object with options.',
        derive(rescueSchema, (schema) => schema.nullable()),
      ),
    }),
    reply: {
      adminPass: described(serverTexts.actionPassword, z.string().optional()),
    },
    run: async (call) => {
      const { engine, context, target, version } = call;
      const request = call.body.rescue ?? {};
      if (request.host !== undefined) call.require('os_compute_api:os-migrate-server:migrate:host', target);
      const adminPass = await engine.servers.act(context, target.id, 'rescue', {
        adminPassword: request.adminPass,
        imageId: request.rescue_image_ref,
        host: request.host,
        mayBeVolumeBacked: at(mayBeVolumeBacked, version) ?? false,
      });
      return engine.settings.enableInstancePassword ? { adminPass } : {};
    },
  }),
  plainAction({
    name: 'unrescueServer',
    action: 'unrescue',
    summary: 'Unrescue a server',
    description: `Boots a rescued server from its own root disk again. The server must be \`RESCUE\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:os-unrescue',
    errors: [404, 409, 501],
  }),
];
