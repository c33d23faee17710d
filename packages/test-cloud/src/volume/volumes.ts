import { randomUUID } from 'node:crypto';
import type { VolumeView } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { get } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { TextBody } from '../service/text-body.js';
import { onlyFields, withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { findDocument } from './find-document.js';
import { manageVolumeRoutes } from './manage-routes.js';
import { reportFailure } from './messages.js';
import { metadataRoutes } from './metadata-routes.js';
import { checkQuota } from './quota-check.js';
import { acceptsVolumes, listPools, poolsFor } from './storage-pool.js';
import { invalidInput, isAtLeast, isListed, RESOURCE_FILTERS, requireFields } from './volume-style.js';
import { encryptionTable, findVisibleType } from './volume-types.js';
import { volumeView } from './volume-views.js';
import { boolean, metadata, optionalText, size, uuid, zone } from './wire-types.js';

const id = uuid.nullable();
const name = text.nullable();

/** Returns the name and description in a body. The keys of version 1 are also accepted. */
function nameFields(body: Wire): Wire {
  const name = body.name ?? body.display_name;
  const description = body.description ?? body.display_description;
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
}

/** Returns the wire format of a volume, including the project id. */
function volumeDoc(call: Call, volume: VolumeView): Doc {
  return { ...volumeView(call, volume), project_id: volume.projectId };
}

/** Returns the size of a new volume's source, which is the default size of the volume. */
async function sourceSizeGb({ cloud, caller }: Call, { snapshot_id, source_volid }: Wire): Promise<number> {
  const { volumes } = cloud.catalogs;
  if (snapshot_id) return (await volumes.getSnapshot(caller, String(snapshot_id))).sizeGb;
  return source_volid ? (await volumes.getVolume(caller, String(source_volid))).sizeGb : 0;
}

/**
 * Returns the type of a new volume without a requested type: the type in the image's properties, or the project's
 * default type. Undefined for a copy, which gets the type of its source.
 */
async function implicitType({ cloud, caller }: Call, body: Wire): Promise<string | undefined> {
  if (body.snapshot_id || body.source_volid) return undefined;
  const imageId = body.imageRef ?? body.image_id;
  const image = imageId ? await cloud.catalogs.images.get(caller, String(imageId)) : undefined;
  return (
    image?.properties.cinder_img_volume_type ??
    cloud.documents.table<string>('volume/default-types').get(caller.projectId)
  );
}

/** Schedules and returns a new volume. If no pool meets the extra specs of the type, the status becomes `error`. */
async function scheduleVolume(call: Call, volume: VolumeView): Promise<VolumeView> {
  const { caller, cloud } = call;
  const { volumes } = cloud.catalogs;
  const type = volume.volumeType ? await volumes.getType(caller, volume.volumeType) : null;
  if (volume.status === 'error' || (await poolsFor(call, type)).length === 0) {
    reportFailure(call, 'noBackend', volume.id);
    return volumes.updateVolume(caller, volume.id, { status: 'error' });
  }
  return volume;
}

/** Creates a volume from validated fields. @throws ServiceError with status 413 if it exceeds the quota */
export async function createVolume(call: Call, body: Wire): Promise<Doc> {
  const { volumes } = call.cloud.catalogs;
  const backup = body.backup_id ? findDocument(call, 'backups', body.backup_id) : undefined;
  const volumeType = (body.volume_type as string | null) ?? (await implicitType(call, body));
  const requestedSizeGb = (body.size as number | null) ?? (backup?.size as number | undefined);
  const type = volumeType ? await volumes.getType(call.caller, volumeType) : await volumes.defaultType();
  const id = randomUUID();
  const sizeGb = requestedSizeGb ?? (await sourceSizeGb(call, body));
  const pending = { id, sizeGb, volumeType: type?.name ?? null };
  await checkQuota(call, { volumes: 1, gigabytes: sizeGb }, type?.name, pending);
  const created = await volumes.createVolume(call.caller, {
    key: id,
    sizeGb: requestedSizeGb,
    ...(nameFields(body) as { name?: string; description?: string }),
    volumeType,
    availabilityZone: body.availability_zone as string | null,
    imageId: (body.imageRef ?? body.image_id) as string | null,
    snapshotId: body.snapshot_id as string | null,
    sourceVolumeId: body.source_volid as string | null,
    metadata: (body.metadata as Record<string, string> | null) ?? undefined,
    excludedHosts: (await listPools(call)).flatMap((pool) => (acceptsVolumes(call, pool) ? [] : (pool.host ?? []))),
  });
  const scheduled = await scheduleVolume(call, created);
  // Cinder has removed this parameter, but older clients still send it.
  const volume = body.multiattach
    ? await volumes.updateVolume(call.caller, scheduled.id, { multiattach: true })
    : scheduled;
  return { ...volumeDoc(call, volume), status: 'creating' };
}

async function removeSnapshots(call: Call, volumeId: string): Promise<void> {
  const { volumes } = call.cloud.catalogs;
  const snapshots = await volumes.listSnapshots(call.caller, { volumeId, allProjects: call.isAdmin });
  for (const snapshot of snapshots) await volumes.deleteSnapshot(call.caller, snapshot.id);
}

async function typeId({ cloud, caller }: Call, name: unknown): Promise<string | null> {
  if (typeof name !== 'string') return null;
  return (await cloud.catalogs.volumes.getType(caller, name).catch(ifMissing))?.id ?? null;
}

/** Returns the encryption settings of a volume, which its type defines. Volumes have no encryption keys. */
const encryptionOf =
  (resource: Resource) =>
  async (call: Call): Promise<Wire> => {
    const { volume_type } = await resource.find(call, call.param('id'));
    const { control_location, cipher, key_size, provider } =
      encryptionTable(call).get(String(await typeId(call, volume_type))) ?? {};
    return { encryption_key_id: null, ...(provider !== undefined && { control_location, cipher, key_size, provider }) };
  };

/** The volume fields that only show and detailed list responses contain. */
const READ_ONLY = [
  'os-vol-tenant-attr:tenant_id',
  'os-vol-host-attr:host',
  'os-vol-mig-status-attr:migstat',
  'os-vol-mig-status-attr:name_id',
  'volume_image_metadata',
];

/** The resource for volumes, including those that were created with servers. */
export const volumes: ResourceSpec = {
  path: 'volumes',
  one: 'volume',
  many: 'volumes',
  serializedBy: { create: 'none', change: 'resource' },
  unknownFields: (call, verb) => (verb === 'create' && !isAtLeast(call, 53) ? 'ignore' : 'reject'),
  filters: [
    ...RESOURCE_FILTERS.volume,
    'volume_type',
    'project_id',
    'user_id',
    'id',
    'snapshot_id',
    'source_volid',
    'multiattach',
    'glance_metadata',
    'host',
    'description',
  ],
  fields: () => ({
    id: derived(),
    size: fixed(size.nullable()),
    name: settable(optionalText),
    display_name: settable(optionalText, undefined, { hidden: true }),
    description: settable(optionalText),
    display_description: settable(optionalText, undefined, { hidden: true }),
    metadata: settable(metadata.nullable()),
    volume_type: fixed(name),
    availability_zone: fixed(zone),
    imageRef: fixed(name, undefined, { hidden: true }),
    image_id: fixed(name, undefined, { hidden: true }),
    snapshot_id: fixed(id),
    source_volid: fixed(id),
    backup_id: fixed(id, undefined, { hidden: true, since: 47 }),
    consistencygroup_id: fixed(id, null),
    group_id: fixed(name, null, { inDocuments: true, since: 13 }),
    multiattach: fixed(boolean.nullable()),
    user_id: derived(),
    provider_id: derived(null, { admin: 'read', since: 21 }),
    service_uuid: derived(null, { since: 48 }),
    shared_targets: derived(null, { since: 48 }),
    cluster_name: derived(null, { admin: 'read', since: 61 }),
    volume_type_id: derived(null, { since: 63 }),
    consumes_quota: derived(true, { since: 65 }),
    status: derived(),
    attach_status: derived(undefined, { hidden: true }),
    project_id: derived(undefined, { hidden: true }),
    bootable: derived(),
    created_at: derived(),
    updated_at: derived(),
    migration_status: derived(),
    host: derived(undefined, { hidden: true }),
  }),
  views: {
    list: onlyFields('id', 'name', 'links'),
    create: withoutFields(...READ_ONLY),
    change: withoutFields(...READ_ONLY),
  },
  lists: (call, volume) => isListed(call, volume.project_id),
  changing: requireFields(53),
  requireSource: sourceSizeGb,
  async creating(call, volume) {
    const { availability_zone } = volume;
    if (availability_zone && !(await listPools(call)).some(({ zone }) => zone === availability_zone))
      throw badRequest(`Availability zone '${availability_zone}' is invalid.`);
    const type = volume.volume_type ? await findVisibleType(call, String(volume.volume_type)) : undefined;
    if (volume.group_id) {
      const group = findDocument(call, 'groups', volume.group_id);
      if (!type) throw invalidInput('volume_type must be provided when creating a volume in a group.');
      const types = group.volume_types as readonly string[];
      if (!types.includes(type.id) && !types.includes(type.name))
        throw invalidInput(
          `Invalid volume_type provided: ${type.id} (requested type must be supported by this group).`,
        );
    }
    return undefined;
  },
  created(call, { id }) {
    const table = call.cloud.documents.table<Wire>('volume/volumes');
    const { group_id, ...fields } = table.get(id) ?? {};
    // The group may have been deleted while the volume's data was stored.
    if (group_id && !call.cloud.documents.table('volume/groups').has(String(group_id))) table.set(id, fields);
  },
  shows: async (call, volume) => ({
    provider_id: null,
    service_uuid: null,
    shared_targets: isAtLeast(call, 69) ? null : false,
    cluster_name: null,
    volume_type_id: isAtLeast(call, 63) ? await typeId(call, volume.volume_type) : null,
    consumes_quota: true,
  }),
  routes: (resource) => [
    get('/v3/volumes/summary', async (call) => {
      const allRecords = await resource.storage.list(call);
      const listedRecords = allRecords.filter((volume) => isListed(call, volume.project_id));
      const metadata: Record<string, string[]> = {};
      for (const volume of listedRecords)
        for (const [key, value] of Object.entries(volume.metadata as Record<string, string>))
          metadata[key] = [...new Set([...(metadata[key] ?? []), value])];
      return {
        'volume-summary': {
          total_size: listedRecords.reduce((sum, { size }) => sum + Number(size), 0),
          total_count: listedRecords.length,
          ...(isAtLeast(call, 36) && { metadata }),
        },
      };
    }),
    get('/v3/volumes/:id/encryption', encryptionOf(resource)),
    get('/v3/volumes/:id/encryption/:key', async (call) => {
      const value = (await encryptionOf(resource)(call))[call.param('key')];
      return new TextBody('text/html', String(value ?? ''));
    }),
    ...metadataRoutes(resource),
    ...manageVolumeRoutes(resource),
  ],
  storage: {
    list: async (call) => {
      const allProjects = call.isAdmin && call.flag('all_tenants') === true;
      const records = await call.cloud.catalogs.volumes.listVolumes(call.caller, { allProjects });
      return records.map((volume) => volumeDoc(call, volume)).reverse();
    },
    get: async (call, id) => volumeDoc(call, await call.cloud.catalogs.volumes.getVolume(call.caller, id)),
    create: createVolume,
    update: async (call, before, change) => {
      const { metadata } = change as { metadata?: Record<string, string> };
      return volumeDoc(
        call,
        await call.cloud.catalogs.volumes.updateVolume(call.caller, before.id, { ...nameFields(change), metadata }),
      );
    },
    remove: async (call, volume) => {
      const { volumes: catalog } = call.cloud.catalogs;
      if (call.flag('cascade')) await removeSnapshots(call, volume.id);
      if (call.flag('force') && isAtLeast(call, 23))
        await catalog.updateVolume(call.caller, volume.id, { status: 'error' });
      await catalog.deleteVolume(call.caller, volume.id);
    },
  },
};
