import { randomUUID } from 'node:crypto';
import type { Connector } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { unsupportedAction } from '../service/service-error.js';
import { actionOf } from './action-of.js';
import { attachmentView } from './volume-views.js';

const connector = z.record(z.string(), z.unknown());
const CreateAttachment = z.object({
  attachment: z.object({
    volume_uuid: z.string(),
    instance_uuid: z.string().nullish(),
    connector: connector.nullish(),
    mode: z.enum(['rw', 'ro']).nullish(),
  }),
});
const UpdateAttachment = z.object({ attachment: z.object({ connector }) });

function connectorOf(fields: Readonly<Record<string, unknown>>): Connector {
  return { ...fields, host: String(fields.host ?? ''), mountpoint: (fields.mountpoint as string | undefined) ?? null };
}

/** Attachments (3.27), with which clients connect a volume to a server step by step. */
export function attachmentRoutes(): readonly Route[] {
  const one = async (call: Call, id: string) => ({
    attachment: attachmentView(await call.cloud.catalogs.volumes.getAttachment(call.caller, id)),
  });
  const list = async (call: Call) => {
    const attachments = await call.cloud.catalogs.volumes.listAttachments(call.caller, {
      volumeId: call.text('volume_id'),
      serverId: call.text('instance_id'),
      allProjects: call.isAdmin && call.flag('all_tenants') === true,
    });
    return { attachments: attachments.map(attachmentView) };
  };

  return [
    get('/v3/attachments', list),
    get('/v3/attachments/detail', list),
    post('/v3/attachments', async (call) => {
      const { attachment: requested } = call.body(CreateAttachment);
      const attachment = await call.cloud.catalogs.volumes.reserve(call.caller, {
        key: randomUUID(),
        volumeId: requested.volume_uuid,
        serverId: requested.instance_uuid ?? '',
      });
      if (requested.connector)
        await call.cloud.catalogs.volumes.connect(call.caller, attachment.id, connectorOf(requested.connector));
      return one(call, attachment.id);
    }),
    get('/v3/attachments/:id', (call) => one(call, call.param('id'))),
    put('/v3/attachments/:id', async (call) => {
      await call.cloud.catalogs.volumes.connect(
        call.caller,
        call.param('id'),
        connectorOf(call.body(UpdateAttachment).attachment.connector),
      );
      return one(call, call.param('id'));
    }),
    post('/v3/attachments/:id/action', async (call) => {
      const { name } = actionOf(call);
      if (name !== 'os-complete') throw unsupportedAction(name);
      await call.cloud.catalogs.volumes.complete(call.caller, call.param('id'));
      return noContent();
    }),
    del('/v3/attachments/:id', async (call) => {
      const { volumeId } = await call.cloud.catalogs.volumes.getAttachment(call.caller, call.param('id'));
      await call.cloud.catalogs.volumes.deleteAttachment(call.caller, call.param('id'));
      const remaining = await call.cloud.catalogs.volumes.listAttachments(call.caller, { volumeId });
      return { attachments: remaining.map(attachmentView) };
    }),
  ];
}
