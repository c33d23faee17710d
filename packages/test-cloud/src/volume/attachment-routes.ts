import { randomUUID } from 'node:crypto';
import type { Connector, EmbeddedCatalogs } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { CreateAttachment, UpdateAttachment } from './volume-bodies.js';
import { attachmentView } from './volume-views.js';

type Volumes = () => EmbeddedCatalogs['volumes'];

function connectorOf(given: Readonly<Record<string, unknown>>): Connector {
  return { ...given, host: String(given.host ?? ''), mountpoint: (given.mountpoint as string | undefined) ?? null };
}

/** Attachments (3.27): what ties a volume to a server, step by step. */
export function attachmentRoutes(volumes: Volumes): readonly Route[] {
  const one = async (call: Call, id: string) => ({
    attachment: attachmentView(await volumes().getAttachment(call.caller, id)),
  });
  const list = async (call: Call) => {
    const found = await volumes().listAttachments(call.caller, {
      volumeId: call.text('volume_id'),
      serverId: call.text('instance_id'),
      allProjects: call.isAdmin && call.flag('all_tenants') === true,
    });
    return { attachments: found.map(attachmentView) };
  };

  return [
    get('/v3/attachments', list),
    get('/v3/attachments/detail', list),
    post('/v3/attachments', async (call) => {
      const { attachment: wanted } = call.body(CreateAttachment);
      const tie = await volumes().reserve(call.caller, {
        key: randomUUID(),
        volumeId: wanted.volume_uuid,
        serverId: wanted.instance_uuid ?? '',
      });
      if (wanted.connector) await volumes().connect(call.caller, tie.id, connectorOf(wanted.connector));
      return one(call, tie.id);
    }),
    get('/v3/attachments/:id', (call) => one(call, call.param('id'))),
    put('/v3/attachments/:id', async (call) => {
      await volumes().connect(
        call.caller,
        call.param('id'),
        connectorOf(call.body(UpdateAttachment).attachment.connector),
      );
      return one(call, call.param('id'));
    }),
    post('/v3/attachments/:id/action', async (call) => {
      if (!call.req.body || !('os-complete' in call.req.body)) throw badRequest('There is no such action.');
      await volumes().complete(call.caller, call.param('id'));
      return noContent();
    }),
    del('/v3/attachments/:id', async (call) => {
      const { volumeId } = await volumes().getAttachment(call.caller, call.param('id'));
      await volumes().deleteAttachment(call.caller, call.param('id'));
      const left = await volumes().listAttachments(call.caller, { volumeId });
      return { attachments: left.map(attachmentView) };
    }),
  ];
}
