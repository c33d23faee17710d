import { checkOptions } from '@apistrata/record-store/options';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError, type CatalogErrorCode } from '../../errors/catalog-error.js';
import {
  type ActingUser,
  type HttpCatalogOptions,
  httpCatalogOptions,
  ServiceClient,
} from '../../http/service-client.js';
import type {
  Connector,
  NewSnapshot,
  NewVolume,
  SnapshotQuery,
  SnapshotStatus,
  Volume,
  VolumeAttachment,
  VolumeCatalog,
  VolumeQuery,
  VolumeSnapshot,
  VolumeType,
} from '../volume-catalog.js';
import { readAttachment, readSnapshot, readType, readVolume } from './volume-wire.js';

/** The metadata key that stores the caller's key, so that a repeated create request finds the existing resource. */
const METADATA_KEY = 'compute_request_key';

/** The first volume microversion with all attachment operations. */
const ATTACHMENTS_VERSION = '3.44';
const REIMAGE_VERSION = '3.68';
const EXTENSION_VERSION = '3.71';

const volumeErrors = { 404: 'VOLUME_NOT_FOUND', 400: 'VOLUME_WRONG_STATUS', 409: 'VOLUME_WRONG_STATUS' } as const;
const snapshotErrors = {
  404: 'SNAPSHOT_NOT_FOUND',
  400: 'SNAPSHOT_WRONG_STATUS',
  409: 'SNAPSHOT_WRONG_STATUS',
} as const;
const attachmentErrors = {
  404: 'ATTACHMENT_NOT_FOUND',
  400: 'VOLUME_WRONG_STATUS',
  409: 'VOLUME_WRONG_STATUS',
} as const;

interface CallOptions {
  readonly as?: ActingUser;
  readonly version?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: unknown;
  readonly errors?: Readonly<Record<number, CatalogErrorCode>>;
}

/** Formats the metadata filter as a Python dictionary literal, the only format that Cinder accepts. */
function metadataFilter(metadata: Readonly<Record<string, string>> | undefined): string | undefined {
  if (!metadata) return undefined;
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return `{${Object.entries(metadata)
    .map(([key, value]) => `${quote(key)}: ${quote(value)}`)
    .join(', ')}}`;
}

/**
 * Returns whether a resource has the requested metadata. Checked here because services can ignore the metadata filter.
 */
function hasMetadata(
  { metadata }: Pick<Volume, 'metadata'>,
  requested: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.entries(requested ?? {}).every(([key, value]) => metadata[key] === value);
}

/** Creates a volume catalog that calls the public API (version 3.44 or later) of a volume service. */
export function httpVolumes(options: HttpCatalogOptions): VolumeCatalog {
  checkOptions('httpVolumes()', options, httpCatalogOptions);
  const client = new ServiceClient('volume', '/v3', options);

  async function call(caller: Caller, method: string, path: string, request: CallOptions = {}): Promise<any> {
    const { as = 'caller', version = ATTACHMENTS_VERSION, ...rest } = request;
    const headers = { 'OpenStack-API-Version': `volume ${version}` };
    const { body } = await client.request(method, (projectId) => `/${projectId}${path}`, {
      caller,
      as,
      headers,
      ...rest,
    });
    return body;
  }

  const volumePath = (id: string) => `/volumes/${encodeURIComponent(id)}`;
  const snapshotPath = (id: string) => `/snapshots/${encodeURIComponent(id)}`;
  const attachmentPath = (id: string) => `/attachments/${encodeURIComponent(id)}`;

  const runAction = (caller: Caller, id: string, json: unknown, version?: string, as?: ActingUser): Promise<any> =>
    call(caller, 'POST', `${volumePath(id)}/action`, { as, json, version, errors: volumeErrors });

  async function getVolume(caller: Caller, id: string): Promise<Volume> {
    const volume = readVolume((await call(caller, 'GET', volumePath(id), { errors: volumeErrors })).volume);
    if (!canAccessProject(caller, volume.projectId))
      throw new CatalogError('VOLUME_NOT_FOUND', `Volume ${id} could not be found.`);
    return volume;
  }

  async function getSnapshot(caller: Caller, id: string): Promise<VolumeSnapshot> {
    const snapshot = readSnapshot((await call(caller, 'GET', snapshotPath(id), { errors: snapshotErrors })).snapshot);
    if (!canAccessProject(caller, snapshot.projectId))
      throw new CatalogError('SNAPSHOT_NOT_FOUND', `Snapshot ${id} could not be found.`);
    return snapshot;
  }

  async function getAttachment(caller: Caller, id: string): Promise<VolumeAttachment> {
    const { attachment } = await call(caller, 'GET', attachmentPath(id), { errors: attachmentErrors });
    return readAttachment(attachment);
  }

  /** Returns the parameters of a list request. A request without the caller's token lists all projects. */
  function toListParameters(caller: Caller, query: VolumeQuery | SnapshotQuery) {
    const allProjects = query.allProjects === true && isAdmin(caller);
    const projectId = allProjects ? query.projectId : caller.projectId;
    return {
      name: query.name,
      status: query.status,
      metadata: metadataFilter(query.metadata),
      all_tenants: allProjects || !caller.token ? '1' : undefined,
      project_id: allProjects || !caller.token ? projectId : undefined,
      limit: query.limit?.toString(),
      offset: query.offset?.toString(),
      marker: query.marker,
    };
  }

  async function listVolumes(caller: Caller, query: VolumeQuery = {}): Promise<readonly Volume[]> {
    const { volumes } = await call(caller, 'GET', '/volumes/detail', {
      query: toListParameters(caller, query),
      errors: { 404: 'MARKER_NOT_FOUND' },
    });
    const allProjects = query.allProjects === true && isAdmin(caller);
    return volumes
      .map(readVolume)
      .filter((volume: Volume) => allProjects || volume.projectId === caller.projectId)
      .filter((volume: Volume) => hasMetadata(volume, query.metadata));
  }

  async function listSnapshots(caller: Caller, query: SnapshotQuery = {}): Promise<readonly VolumeSnapshot[]> {
    const { snapshots } = await call(caller, 'GET', '/snapshots/detail', {
      query: { ...toListParameters(caller, query), volume_id: query.volumeId },
      errors: { 404: 'MARKER_NOT_FOUND' },
    });
    const allProjects = query.allProjects === true && isAdmin(caller);
    return snapshots
      .map(readSnapshot)
      .filter((one: VolumeSnapshot) => allProjects || one.projectId === caller.projectId)
      .filter((one: VolumeSnapshot) => hasMetadata(one, query.metadata))
      .filter((one: VolumeSnapshot) => query.volumeId === undefined || one.volumeId === query.volumeId);
  }

  return {
    getVolume,
    listVolumes,
    getSnapshot,
    listSnapshots,
    getAttachment,

    async createVolume(caller: Caller, requested: NewVolume): Promise<Volume> {
      const [existing] = await listVolumes(caller, { metadata: { [METADATA_KEY]: requested.key } });
      if (existing) return existing;
      const volume = {
        size: requested.sizeGb,
        name: requested.name ?? '',
        description: requested.description ?? '',
        volume_type: requested.volumeType ?? undefined,
        availability_zone: requested.availabilityZone ?? undefined,
        imageRef: requested.imageId ?? undefined,
        snapshot_id: requested.snapshotId ?? undefined,
        source_volid: requested.sourceVolumeId ?? undefined,
        metadata: { ...requested.metadata, [METADATA_KEY]: requested.key },
      };
      const errors = { 400: 'VOLUME_INVALID', 404: 'VOLUME_INVALID' } as const;
      return readVolume((await call(caller, 'POST', '/volumes', { as: 'project', json: { volume }, errors })).volume);
    },

    async deleteVolume(caller: Caller, id: string): Promise<void> {
      try {
        const { status } = await getVolume(caller, id);
        if (status === 'deleting') return;
        await call(caller, 'DELETE', volumePath(id), { errors: volumeErrors });
      } catch (error) {
        if ((error as CatalogError).code !== 'VOLUME_NOT_FOUND') throw error;
      }
    },

    async createSnapshot(caller: Caller, request: NewSnapshot): Promise<VolumeSnapshot> {
      const query = { metadata: { [METADATA_KEY]: request.key }, volumeId: request.volumeId };
      const [existing] = await listSnapshots(caller, query);
      if (existing) return existing;
      const snapshot = {
        volume_id: request.volumeId,
        name: request.name ?? '',
        description: request.description ?? '',
        force: request.force ?? false,
        metadata: { ...request.metadata, [METADATA_KEY]: request.key },
      };
      const created = await call(caller, 'POST', '/snapshots', {
        as: 'project',
        json: { snapshot },
        errors: volumeErrors,
      });
      return readSnapshot(created.snapshot);
    },

    async deleteSnapshot(caller: Caller, id: string): Promise<void> {
      try {
        const { status } = await getSnapshot(caller, id);
        if (status === 'deleting') return;
        await call(caller, 'DELETE', snapshotPath(id), { errors: snapshotErrors });
      } catch (error) {
        if ((error as CatalogError).code !== 'SNAPSHOT_NOT_FOUND') throw error;
      }
    },

    async updateSnapshotStatus(caller: Caller, id: string, status: SnapshotStatus, progress?: string): Promise<void> {
      const json = { 'os-update_snapshot_status': { status, progress } };
      await call(caller, 'POST', `${snapshotPath(id)}/action`, { as: 'service', json, errors: snapshotErrors });
    },

    async getType(caller: Caller, nameOrId: string): Promise<VolumeType> {
      const { volume_types: types } = await call(caller, 'GET', '/types', { query: { is_public: 'None' } });
      const type = types.map(readType).find((one: VolumeType) => one.id === nameOrId || one.name === nameOrId);
      if (!type) throw new CatalogError('VOLUME_TYPE_NOT_FOUND', `Volume type ${nameOrId} could not be found.`);
      return type;
    },

    async reserve(caller, { volumeId, serverId }): Promise<VolumeAttachment> {
      await getVolume(caller, volumeId);
      const { attachments } = await call(caller, 'GET', '/attachments/detail', {
        as: 'service',
        query: { volume_id: volumeId, instance_id: serverId, all_tenants: '1' },
      });
      const reserved = attachments.map(readAttachment).find((one: VolumeAttachment) => one.status === 'reserved');
      if (reserved) return reserved;
      const json = { attachment: { volume_uuid: volumeId, instance_uuid: serverId } };
      const request = { json, errors: volumeErrors };
      return readAttachment((await call(caller, 'POST', '/attachments', request)).attachment);
    },

    async connect(caller: Caller, id: string, connector: Connector): Promise<VolumeAttachment> {
      const json = { attachment: { connector } };
      const request = { json, errors: attachmentErrors };
      return readAttachment((await call(caller, 'PUT', attachmentPath(id), request)).attachment);
    },

    async complete(caller: Caller, id: string): Promise<void> {
      try {
        const json = { 'os-complete': {} };
        await call(caller, 'POST', `${attachmentPath(id)}/action`, { json, errors: attachmentErrors });
      } catch (error) {
        // The volume service rejects a repeated request if the first attempt succeeded.
        const attachment = await getAttachment(caller, id).catch(() => undefined);
        if (attachment?.status !== 'attached') throw error;
      }
    },

    async deleteAttachment(caller: Caller, id: string): Promise<void> {
      try {
        await call(caller, 'DELETE', attachmentPath(id), { errors: attachmentErrors });
      } catch (error) {
        if ((error as CatalogError).code !== 'ATTACHMENT_NOT_FOUND') throw error;
      }
    },

    async beginDetaching(caller: Caller, id: string): Promise<void> {
      await getVolume(caller, id);
      await runAction(caller, id, { 'os-begin_detaching': null });
    },

    async rollbackDetaching(caller: Caller, id: string): Promise<void> {
      if ((await getVolume(caller, id)).status === 'detaching')
        await runAction(caller, id, { 'os-roll_detaching': null });
    },

    async completeExtend(caller: Caller, id: string, failed: boolean): Promise<void> {
      const { status } = await getVolume(caller, id);
      if (status === 'extending')
        await runAction(caller, id, { 'os-extend_volume_completion': { error: failed } }, EXTENSION_VERSION, 'service');
    },

    async reimage(caller: Caller, id: string, imageId: string): Promise<void> {
      await getVolume(caller, id);
      await runAction(caller, id, { 'os-reimage': { image_id: imageId, reimage_reserved: true } }, REIMAGE_VERSION);
    },

    async completeMigration(caller: Caller, oldId: string, newId: string, failed: boolean): Promise<string> {
      const json = { 'os-migrate_volume_completion': { new_volume: newId, error: failed } };
      return (await runAction(caller, oldId, json)).save_volume_id;
    },
  };
}
