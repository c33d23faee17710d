import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs, SnapshotStatus } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { accepted, del, get, post, put, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { CreateSnapshot, Metadata, UpdateSnapshot } from './volume-bodies.js';
import { nextLink, volumeQuery } from './volume-routes.js';
import { snapshotView } from './volume-views.js';

type Volumes = () => EmbeddedCatalogs['volumes'];

/** Snapshots of volumes. */
export function snapshotRoutes(volumes: Volumes): readonly Route[] {
  async function list(call: Call) {
    const query = { ...volumeQuery(call), status: call.text('status') as SnapshotStatus | undefined };
    const found = await volumes().listSnapshots(call.caller, { ...query, volumeId: call.text('volume_id') });
    return { snapshots: found.map(snapshotView), ...nextLink(call, 'snapshots', found) };
  }

  return [
    get('/v3/snapshots', list),
    get('/v3/snapshots/detail', list),
    post('/v3/snapshots', async (call) => {
      const { snapshot } = call.body(CreateSnapshot);
      const made = await volumes().createSnapshot(call.caller, {
        key: randomUUID(),
        volumeId: snapshot.volume_id,
        name: snapshot.name,
        description: snapshot.description,
        force: snapshot.force ?? false,
        metadata: snapshot.metadata ?? undefined,
      });
      return accepted({ snapshot: { ...snapshotView(made), status: 'creating' } });
    }),
    get('/v3/snapshots/:id', async (call) => ({
      snapshot: snapshotView(await volumes().getSnapshot(call.caller, call.param('id'))),
    })),
    put('/v3/snapshots/:id', async (call) => {
      const { snapshot } = call.body(UpdateSnapshot);
      const changed = await volumes().updateSnapshot(call.caller, call.param('id'), snapshot);
      return { snapshot: snapshotView(changed) };
    }),
    del('/v3/snapshots/:id', async (call) => {
      await volumes().getSnapshot(call.caller, call.param('id'));
      await volumes().deleteSnapshot(call.caller, call.param('id'));
      return accepted();
    }),
    post('/v3/snapshots/:id/metadata', async (call) => {
      const before = await volumes().getSnapshot(call.caller, call.param('id'));
      const metadata = { ...before.metadata, ...call.body(Metadata).metadata };
      await volumes().updateSnapshot(call.caller, call.param('id'), { metadata });
      return { metadata };
    }),
    post('/v3/snapshots/:id/action', async (call) => {
      call.requireAdmin();
      const status = call.req.body?.['os-reset_status']?.status;
      if (typeof status !== 'string') throw badRequest('There is no such action.');
      await volumes().updateSnapshotStatus(call.caller, call.param('id'), status as SnapshotStatus);
      return accepted();
    }),
  ];
}
