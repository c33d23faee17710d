import type { AttachmentRecord, SnapshotRecord, VolumeView } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { formatMicros } from '../service/times.js';
import { poolNameOf } from './storage-pool.js';
import { links } from './volume-style.js';

export function volumeView(call: Call, volume: VolumeView) {
  const { isAdmin } = call;
  return {
    id: volume.id,
    name: volume.name ?? '',
    description: volume.description,
    status: volume.status,
    size: volume.sizeGb,
    bootable: String(volume.bootable),
    encrypted: volume.encrypted,
    multiattach: volume.multiattach,
    availability_zone: volume.availabilityZone,
    volume_type: volume.volumeType,
    snapshot_id: volume.snapshotId,
    source_volid: volume.sourceVolumeId,
    metadata: volume.metadata,
    user_id: volume.userId,
    created_at: formatMicros(volume.createdAt),
    updated_at: formatMicros(volume.updatedAt),
    replication_status: null,
    consistencygroup_id: null,
    attachments: volume.attachments
      .filter(({ status }) => status === 'attached' || status === 'detaching')
      .map((attachment) => ({
        id: volume.id,
        attachment_id: attachment.id,
        volume_id: volume.id,
        server_id: attachment.serverId,
        host_name: attachment.host,
        device: attachment.device,
        attached_at: attachment.attachedAt && formatMicros(attachment.attachedAt),
      })),
    links: links(call, `volumes/${volume.id}`),
    'os-vol-tenant-attr:tenant_id': volume.projectId,
    ...(Object.keys(volume.imageMetadata).length > 0 && { volume_image_metadata: volume.imageMetadata }),
    ...(isAdmin && {
      'os-vol-host-attr:host': poolNameOf(volume.host),
      'os-vol-mig-status-attr:migstat': volume.migrationStatus,
      'os-vol-mig-status-attr:name_id': null,
      migration_status: volume.migrationStatus,
    }),
  };
}

export function snapshotView(snapshot: SnapshotRecord) {
  return {
    id: snapshot.id,
    name: snapshot.name,
    description: snapshot.description,
    volume_id: snapshot.volumeId,
    status: snapshot.status,
    size: snapshot.sizeGb,
    metadata: snapshot.metadata,
    user_id: snapshot.userId,
    created_at: formatMicros(snapshot.createdAt),
    updated_at: formatMicros(snapshot.updatedAt),
    'os-extended-snapshot-attributes:progress': snapshot.progress,
    'os-extended-snapshot-attributes:project_id': snapshot.projectId,
  };
}

export const attachmentSummary = ({ id, serverId, status, volumeId }: AttachmentRecord) => ({
  id,
  status,
  instance: serverId || null,
  volume_id: volumeId,
});

export function attachmentView(attachment: AttachmentRecord) {
  // Unknown times are empty strings in Cinder's responses.
  const time = (moment: number | null) => (moment === null ? '' : formatMicros(moment));
  return {
    ...attachmentSummary(attachment),
    attach_mode: attachment.mode,
    attached_at: time(attachment.attachedAt),
    detached_at: time(attachment.detachedAt),
    connection_info: attachment.connection,
  };
}
