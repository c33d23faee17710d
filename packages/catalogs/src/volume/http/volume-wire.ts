import type { Volume, VolumeAttachment, VolumeSnapshot, VolumeType } from '../volume-catalog.js';

/** Parses a timestamp. A timestamp without a time zone is in UTC. */
function parseTime(text: string | null | undefined): number | null {
  if (!text) return null;
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

type WireResource = Readonly<Record<string, any>>;

export function readVolume(wire: WireResource): Volume {
  const createdAt = parseTime(wire.created_at) ?? 0;
  const attachments: readonly WireResource[] = wire.attachments ?? [];
  return {
    id: wire.id,
    projectId: wire['os-vol-tenant-attr:tenant_id'] ?? '',
    userId: wire.user_id ?? '',
    name: wire.name || null,
    description: wire.description || null,
    status: wire.status,
    sizeGb: wire.size,
    bootable: String(wire.bootable) === 'true',
    multiattach: wire.multiattach ?? false,
    encrypted: wire.encrypted ?? false,
    availabilityZone: wire.availability_zone ?? '',
    volumeType: wire.volume_type ?? null,
    snapshotId: wire.snapshot_id ?? null,
    sourceVolumeId: wire.source_volid ?? null,
    imageMetadata: wire.volume_image_metadata ?? {},
    metadata: wire.metadata ?? {},
    migrationStatus: wire.migration_status ?? wire['os-vol-mig-status-attr:migstat'] ?? null,
    attachments: attachments.map((attachment) => ({
      id: attachment.attachment_id,
      volumeId: wire.id,
      serverId: attachment.server_id,
      status: 'attached',
      host: attachment.host_name ?? null,
      device: attachment.device ?? null,
      attachedAt: parseTime(attachment.attached_at),
      detachedAt: null,
      mode: 'rw',
      connection: {},
    })),
    createdAt,
    updatedAt: parseTime(wire.updated_at) ?? createdAt,
  };
}

export function readAttachment(wire: WireResource): VolumeAttachment {
  return {
    id: wire.id,
    volumeId: wire.volume_id,
    serverId: wire.instance,
    status: wire.status,
    host: wire.attached_host ?? null,
    device: wire.mountpoint ?? null,
    attachedAt: parseTime(wire.attached_at),
    detachedAt: parseTime(wire.detached_at),
    mode: wire.attach_mode ?? 'rw',
    connection: wire.connection_info ?? {},
  };
}

export function readSnapshot(wire: WireResource): VolumeSnapshot {
  const createdAt = parseTime(wire.created_at) ?? 0;
  return {
    id: wire.id,
    volumeId: wire.volume_id,
    projectId: wire['os-extended-snapshot-attributes:project_id'] ?? '',
    userId: wire.user_id ?? '',
    name: wire.name || null,
    description: wire.description || null,
    status: wire.status,
    progress: wire['os-extended-snapshot-attributes:progress'] ?? '0%',
    sizeGb: wire.size,
    metadata: wire.metadata ?? {},
    createdAt,
    updatedAt: parseTime(wire.updated_at) ?? createdAt,
  };
}

export function readType(wire: WireResource): VolumeType {
  return {
    id: wire.id,
    name: wire.name,
    description: wire.description ?? null,
    isPublic: wire['os-volume-type-access:is_public'] ?? wire.is_public ?? true,
    extraSpecs: wire.extra_specs ?? {},
  };
}
