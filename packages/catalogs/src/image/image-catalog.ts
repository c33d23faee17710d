import type { Caller } from '../caller/caller.js';

/** The status of an image. Servers can boot only from `active` images. */
export type ImageStatus =
  | 'queued'
  | 'saving'
  | 'uploading'
  | 'importing'
  | 'active'
  | 'deactivated'
  | 'killed'
  | 'pending_delete'
  | 'deleted';

/**
 * The callers that can see an image. `public`: all callers. `private`: the owner project. `shared`: the owner and the
 * image's members. `community`: all callers, but lists contain the image only on request.
 */
export type ImageVisibility = 'public' | 'private' | 'shared' | 'community';

/** An image. Times are in milliseconds since the epoch. A field that the service does not report is null. */
export interface Image {
  /** The image's UUID. */
  readonly id: string;
  readonly name: string | null;
  readonly status: ImageStatus;
  readonly visibility: ImageVisibility;
  /** The project that owns the image. */
  readonly projectId: string | null;
  readonly minDiskGb: number;
  readonly minRamMb: number;
  readonly sizeBytes: number | null;
  readonly virtualSizeBytes: number | null;
  readonly checksum: string | null;
  readonly diskFormat: string | null;
  readonly containerFormat: string | null;
  readonly protected: boolean;
  readonly hidden: boolean;
  readonly tags: readonly string[];
  /** All other image properties: `image_type`, `instance_uuid`, `base_image_ref`, `hw_disk_bus`, ... */
  readonly properties: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The filters and the page of an image list. An image must match all filters. The newest image is listed first. */
export interface ImageQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly status?: ImageStatus;
  readonly visibility?: ImageVisibility;
  /** The project that owns the images. */
  readonly projectId?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** The caller's member status for images that other projects share. Default: `accepted`. */
  readonly memberStatus?: 'pending' | 'accepted' | 'rejected' | 'all';
  /** Whether to list hidden images instead of visible ones. Default: false. */
  readonly hidden?: boolean;
  /** The earliest time of the last change, in milliseconds since the epoch. */
  readonly updatedSince?: number;
  readonly limit?: number;
  /** The id of the last image on the previous page. */
  readonly marker?: string;
}

/** The fields of a new image. The minimum disk size is in GiB, the minimum memory size in MiB. */
export interface NewImage {
  /** A UUID chosen by the caller. A repeated call returns the same image. */
  readonly id: string;
  readonly name?: string | null;
  /** The project that will own the image. Default: the caller's project. */
  readonly projectId?: string;
  readonly visibility?: ImageVisibility;
  readonly minDiskGb?: number;
  readonly minRamMb?: number;
  readonly diskFormat?: string | null;
  readonly containerFormat?: string | null;
  readonly protected?: boolean;
  readonly hidden?: boolean;
  readonly tags?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

/** The changes to an image. Omitted fields are not changed. */
export interface ImageChange extends Omit<NewImage, 'id' | 'properties'> {
  /** The property changes, which are merged into the existing properties. A null value removes a property. */
  readonly properties?: Readonly<Record<string, string | null>>;
}

/** Image data, as a whole or in chunks. */
export type ImageContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * The catalog of images from which servers boot, including server snapshots. Every method throws {@link CatalogError}.
 * For images that the caller may not see, the code is `IMAGE_NOT_FOUND`.
 */
export interface ImageCatalog {
  get(caller: Caller, id: string): Promise<Image>;
  list(caller: Caller, query?: ImageQuery): Promise<readonly Image[]>;
  /**
   * Creates a `queued` image without data. Idempotent: if the owner has an image with this id, that image is returned.
   */
  create(caller: Caller, image: NewImage): Promise<Image>;
  /** Uploads the data of a `queued` image, which then becomes `active`. No-op for an `active` image. */
  upload(caller: Caller, id: string, content: ImageContent): Promise<Image>;
  /** Streams an `active` image's data. The stream is empty if the image has no data. */
  download(caller: Caller, id: string): Promise<AsyncIterable<Uint8Array>>;
  update(caller: Caller, id: string, change: ImageChange): Promise<Image>;
  /**
   * Deletes an image.
   *
   * @throws `IMAGE_PROTECTED`, or `IMAGE_FORBIDDEN` if another project owns the image
   */
  delete(caller: Caller, id: string): Promise<void>;
}
