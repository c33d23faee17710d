import type { ImageMember, ImageRecord } from '@apistrata/compute-engine/catalogs';
import { formatSeconds } from '../service/times.js';

/** The id of the only image store. */
export const STORE_ID = 'embedded';

/** Returns the wire format of an image, in which properties are at the same level as fields. */
export function imageView(image: ImageRecord) {
  return {
    ...image.properties,
    id: image.id,
    name: image.name,
    status: image.status,
    visibility: image.visibility,
    owner: image.projectId,
    protected: image.protected,
    os_hidden: image.hidden,
    min_disk: image.minDiskGb,
    min_ram: image.minRamMb,
    size: image.sizeBytes,
    virtual_size: image.virtualSizeBytes,
    checksum: image.checksum,
    os_hash_algo: image.sha512 ? 'sha512' : null,
    os_hash_value: image.sha512,
    disk_format: image.diskFormat,
    container_format: image.containerFormat,
    tags: image.tags,
    // Only images with data have a store.
    ...(image.sizeBytes !== null && { stores: STORE_ID }),
    created_at: formatSeconds(image.createdAt),
    updated_at: formatSeconds(image.updatedAt),
    self: `/v2/images/${image.id}`,
    file: `/v2/images/${image.id}/file`,
    schema: '/v2/schemas/image',
  };
}

export function memberView(member: ImageMember) {
  return {
    image_id: member.imageId,
    member_id: member.projectId,
    status: member.status,
    created_at: formatSeconds(member.createdAt),
    updated_at: formatSeconds(member.updatedAt),
    schema: '/v2/schemas/member',
  };
}
