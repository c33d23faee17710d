import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs, VolumeStatus, VolumeView } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { filtered, sorted } from '../service/listing.js';
import { accepted, del, get, post, put, Reply, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { CreateVolume, Metadata, UpdateVolume } from './volume-bodies.js';
import { briefVolume, volumeView } from './volume-views.js';

type Volumes = () => EmbeddedCatalogs['volumes'];

/** The page after this one, as lists of the volume service tell it. */
export function nextLink(call: Call, kind: string, items: readonly { readonly id?: unknown }[]) {
  const limit = call.number('limit');
  if (!limit || items.length < limit) return {};
  const query = new URLSearchParams(call.query);
  query.set('marker', String(items.at(-1)!.id));
  return {
    [`${kind}_links`]: [{ rel: 'next', href: `${call.cloudBase}${call.req.originalUrl.split('?')[0]}?${query}` }],
  };
}

/** Parameters that the catalog narrows by itself, and the page. */
export function volumeQuery(call: Call) {
  return {
    name: call.text('name'),
    status: call.text('status') as VolumeStatus | undefined,
    allProjects: call.isAdmin && call.flag('all_tenants') === true,
    projectId: call.text('project_id'),
    limit: call.number('limit'),
    offset: call.number('offset'),
    marker: call.text('marker'),
  };
}

const REST = ['bootable', 'availability_zone', 'volume_type', 'size'];

/** Volumes and their metadata. */
export function volumeRoutes(volumes: Volumes): readonly Route[] {
  async function list(call: Call, view: (call: Call, volume: VolumeView) => Readonly<Record<string, unknown>>) {
    const found = await volumes().listVolumes(call.caller, volumeQuery(call));
    const rest = new URLSearchParams([...call.query].filter(([name]) => REST.includes(name)));
    const kept = new Set(
      filtered(
        found.map((volume) => volumeView(call, volume)),
        rest,
        REST,
      ).map(({ id }) => id),
    );
    const [key, direction = 'desc'] = (call.text('sort') ?? '').split(',')[0]!.split(':');
    const order = key ? [{ key, descending: direction === 'desc' }] : [];
    const shown = found.filter(({ id }) => kept.has(id)).map((volume) => view(call, volume));
    return { volumes: sorted(shown, order), ...nextLink(call, 'volumes', found) };
  }

  async function changeMetadata(
    call: Call,
    change: (before: Readonly<Record<string, string>>) => Record<string, string>,
  ) {
    const { metadata } = await volumes().getVolume(call.caller, call.param('id'));
    const changed = change(metadata);
    await volumes().updateVolume(call.caller, call.param('id'), { metadata: changed });
    return { metadata: changed };
  }

  return [
    get('/v3/volumes', (call) => list(call, briefVolume)),
    get('/v3/volumes/detail', (call) => list(call, volumeView)),
    get('/v3/volumes/summary', async (call) => {
      const found = await volumes().listVolumes(call.caller, volumeQuery(call));
      const total = found.reduce((sum, { sizeGb }) => sum + sizeGb, 0);
      return { 'volume-summary': { total_size: total, total_count: found.length, metadata: {} } };
    }),
    post('/v3/volumes', async (call) => {
      const { volume } = call.body(CreateVolume);
      const made = await volumes().createVolume(call.caller, {
        key: randomUUID(),
        sizeGb: volume.size ?? undefined,
        name: volume.name,
        description: volume.description,
        volumeType: volume.volume_type,
        availabilityZone: volume.availability_zone,
        imageId: volume.imageRef,
        snapshotId: volume.snapshot_id,
        sourceVolumeId: volume.source_volid,
        metadata: volume.metadata ?? undefined,
      });
      return accepted({ volume: { ...volumeView(call, made), status: 'creating' } });
    }),
    get('/v3/volumes/:id', async (call) => ({
      volume: volumeView(call, await volumes().getVolume(call.caller, call.param('id'))),
    })),
    put('/v3/volumes/:id', async (call) => {
      const { volume } = call.body(UpdateVolume);
      const changed = await volumes().updateVolume(call.caller, call.param('id'), volume);
      return { volume: volumeView(call, changed) };
    }),
    del('/v3/volumes/:id', async (call) => {
      await volumes().getVolume(call.caller, call.param('id'));
      await volumes().deleteVolume(call.caller, call.param('id'));
      return accepted();
    }),
    get('/v3/volumes/:id/metadata', async (call) => changeMetadata(call, (before) => ({ ...before }))),
    post('/v3/volumes/:id/metadata', (call) =>
      changeMetadata(call, (before) => ({ ...before, ...call.body(Metadata).metadata })),
    ),
    put('/v3/volumes/:id/metadata', (call) => changeMetadata(call, () => call.body(Metadata).metadata)),
    del('/v3/volumes/:id/metadata/:key', async (call) => {
      await changeMetadata(call, ({ [call.param('key')]: gone, ...rest }) => {
        if (gone === undefined) throw notFound(`Metadata item was not found: ${call.param('key')}`);
        return rest;
      });
      return new Reply(200);
    }),
  ];
}
