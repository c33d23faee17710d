import type { ImageStatus, VolumeStatus } from '@apistrata/catalogs';

/** Returns all members of a union type. A missing or misspelled member does not compile. */
function membersOf<T extends string>(members: Readonly<Record<T, true>>): T[] {
  return Object.keys(members) as T[];
}

/** All image statuses. */
export const imageStatuses = membersOf<ImageStatus>({
  queued: true,
  saving: true,
  uploading: true,
  importing: true,
  active: true,
  deactivated: true,
  killed: true,
  deleted: true,
  pending_delete: true,
});

/** All volume statuses. */
export const volumeStatuses = membersOf<VolumeStatus>({
  creating: true,
  available: true,
  reserved: true,
  attaching: true,
  'in-use': true,
  detaching: true,
  deleting: true,
  downloading: true,
  uploading: true,
  extending: true,
  retyping: true,
  maintenance: true,
  'awaiting-transfer': true,
  'backing-up': true,
  'restoring-backup': true,
  error: true,
  error_deleting: true,
  error_extending: true,
  error_restoring: true,
});
