import { compoundKey, DocumentTable, type Stored } from '@apistrata/record-store';
import type { Image } from '../image-catalog.js';

/** An image record in the built-in catalog. */
export interface ImageRecord extends Image, Stored {
  /** The hexadecimal SHA-512 digest of the image data; null for an image without data. */
  readonly sha512: string | null;
}

/** Whether an image member has accepted or rejected a shared image. */
export type MemberStatus = 'pending' | 'accepted' | 'rejected';

/** A project with which an image is shared. */
export interface ImageMember extends Stored {
  readonly imageId: string;
  readonly projectId: string;
  readonly status: MemberStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const imageTables = {
  images: new DocumentTable<ImageRecord>({
    name: 'images',
    key: (i) => i.id,
    columns: {
      project_id: (i) => i.projectId,
      name: (i) => i.name,
      status: (i) => i.status,
      visibility: (i) => i.visibility,
      hidden: (i) => i.hidden,
      server_id: (i) => i.properties.instance_uuid,
      updated_at: (i) => i.updatedAt,
    },
  }),
  members: new DocumentTable<ImageMember>({
    name: 'image_members',
    key: (m) => compoundKey(m.imageId, m.projectId),
    columns: { image_id: (m) => m.imageId, project_id: (m) => m.projectId, status: (m) => m.status },
  }),
} as const;
