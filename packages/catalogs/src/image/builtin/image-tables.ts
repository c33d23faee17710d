import { compoundKey, DocumentTable, type Stored } from '@apistrata/record-store';
import type { Image } from '../image-catalog.js';

/** An image as the embedded catalog keeps it. */
export interface ImageRecord extends Image, Stored {
  /** SHA-512 of the content, hex; null without content. */
  readonly sha512: string | null;
}

/** What a project said to the image that it was offered. */
export type MemberStatus = 'pending' | 'accepted' | 'rejected';

/** A project that a shared image is offered to. */
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
