import { DocumentTable, type Stored } from '@apistrata/record-store';
import type { Volume, VolumeAttachment, VolumeSnapshot, VolumeType } from '../volume-catalog.js';

export interface VolumeRecord extends Omit<Volume, 'attachments'>, Stored {}

/** An attachment record in the embedded catalog. */
export interface AttachmentRecord extends VolumeAttachment, Stored {
  readonly projectId: string;
}

/** A snapshot record in the embedded catalog. */
export interface SnapshotRecord extends VolumeSnapshot, Stored {}

/** A volume type record in the embedded catalog. Times are in milliseconds since the epoch. */
export interface VolumeTypeRecord extends VolumeType, Stored {
  readonly createdAt: number;
}

export const volumeTables = {
  volumes: new DocumentTable<VolumeRecord>({
    name: 'volumes',
    key: (v) => v.id,
    columns: {
      project_id: (v) => v.projectId,
      status: (v) => v.status,
      name: (v) => v.name,
      type_name: (v) => v.volumeType,
    },
  }),
  attachments: new DocumentTable<AttachmentRecord>({
    name: 'volume_attachments',
    key: (a) => a.id,
    columns: { project_id: (a) => a.projectId, volume_id: (a) => a.volumeId, server_id: (a) => a.serverId },
  }),
  snapshots: new DocumentTable<SnapshotRecord>({
    name: 'snapshots',
    key: (s) => s.id,
    columns: {
      project_id: (s) => s.projectId,
      volume_id: (s) => s.volumeId,
      status: (s) => s.status,
      name: (s) => s.name,
    },
  }),
  types: new DocumentTable<VolumeTypeRecord>({
    name: 'volume_types',
    key: (t) => t.id,
    columns: { name: (t) => t.name },
  }),
} as const;
