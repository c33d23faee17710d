import { randomUUID } from 'node:crypto';
import type { AttachmentRecord, Connector } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, post, put, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { createActionRoute } from './action-route.js';
import { requireMember, requirePolicy } from './policies.js';
import { isAtLeast } from './volume-style.js';
import { attachmentSummary, attachmentView } from './volume-views.js';
import { object, uuid } from './wire-types.js';

const connector = z.record(z.string(), z.unknown());
const CreateAttachment = object({
  attachment: object({
    volume_uuid: uuid,
    instance_uuid: uuid.optional(),
    connector: connector.nullish(),
    mode: z.enum(['rw', 'ro']).optional(),
  }),
});
const UpdateAttachment = object({
  attachment: object({
    connector: connector.refine((fields) => Object.keys(fields).length > 0, 'does not have enough properties'),
  }),
});

function connectorOf(fields: Readonly<Record<string, unknown>>): Connector {
  return { ...fields, host: String(fields.host ?? ''), mountpoint: (fields.mountpoint as string | undefined) ?? null };
}

/** The routes for attachments (since 3.27), which connect a volume to a server in several steps. */
export function attachmentRoutes(): readonly Route[] {
  const showAttachment = async (call: Call, id: string) => ({
    attachment: attachmentView(await call.cloud.catalogs.volumes.getAttachment(call.caller, id)),
  });
  const list = (view: (attachment: AttachmentRecord) => unknown) => async (call: Call) => {
    const attachments = await call.cloud.catalogs.volumes.listAttachments(call.caller, {
      volumeId: call.text('volume_id'),
      serverId: call.text('instance_id'),
      allProjects: call.isAdmin && call.flag('all_tenants') === true,
    });
    return { attachments: attachments.map(view) };
  };

  return [
    get('/v3/attachments', list(attachmentSummary)),
    get('/v3/attachments/detail', list(attachmentView)),
    post('/v3/attachments', async (call) => {
      const { attachment: requested } = call.body(CreateAttachment);
      if (requested.mode && !isAtLeast(call, 54))
        throw badRequest("Additional properties are not allowed ('mode' was unexpected)");
      const { volumes } = call.cloud.catalogs;
      await requireMember(call, 'volume:attachment_create', () =>
        volumes.getVolume(call.caller, requested.volume_uuid),
      );
      const attachment = await volumes.reserve(call.caller, {
        key: randomUUID(),
        volumeId: requested.volume_uuid,
        serverId: requested.instance_uuid ?? '',
        mode: requested.mode,
      });
      if (requested.connector) await volumes.connect(call.caller, attachment.id, connectorOf(requested.connector));
      return showAttachment(call, attachment.id);
    }),
    get('/v3/attachments/:id', (call) => showAttachment(call, call.param('id'))),
    put('/v3/attachments/:id', async (call) => {
      const { volumes } = call.cloud.catalogs;
      const id = call.param('id');
      const requestedConnector = connectorOf(call.body(UpdateAttachment).attachment.connector);
      await requireMember(call, 'volume:attachment_update', () => volumes.getAttachment(call.caller, id));
      await volumes.connect(call.caller, id, requestedConnector);
      return showAttachment(call, id);
    }),
    createActionRoute(
      'attachments/:id',
      (call) => call.cloud.catalogs.volumes.getAttachment(call.caller, call.param('id')),
      {
        'os-complete': {
          run: (call, { id }) => call.cloud.catalogs.volumes.complete(call.caller, id),
          status: 204,
          since: 44,
          policy: 'volume:attachment_complete',
        },
      },
    ),
    del('/v3/attachments/:id', async (call) => {
      const { volumes } = call.cloud.catalogs;
      const { id, volumeId } = await volumes.getAttachment(call.caller, call.param('id'));
      requirePolicy(call, 'volume:attachment_delete', 'member');
      await volumes.deleteAttachment(call.caller, id);
      const remainingAttachments = await volumes.listAttachments(call.caller, { volumeId });
      return { attachments: remainingAttachments.map(attachmentSummary) };
    }),
  ];
}
