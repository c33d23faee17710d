import type { Caller } from '../caller/caller.js';

/** Status of an image; only `active` images can boot. */
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

/** The callers that can see an image: all, only its project, also its members, or all callers that know the id. */
export type ImageVisibility = 'public' | 'private' | 'shared' | 'community';

/** An image. Times are in milliseconds since the epoch; null if the service does not report them. */
export interface Image {
  /** UUID. */
  readonly id: string;
  readonly name: string | null;
  readonly status: ImageStatus;
  readonly visibility: ImageVisibility;
  /** The owner. */
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
  /** All other properties: `image_type`, `instance_uuid`, `base_image_ref`, `hw_disk_bus`, ... */
  readonly properties: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Filters of a list; all given ones must match. The order is newest first. */
export interface ImageQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly status?: ImageStatus;
  readonly visibility?: ImageVisibility;
  /** Only images of this owner. */
  readonly projectId?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** For images that other projects share: the caller's member status. Default: accepted ones. */
  readonly memberStatus?: 'pending' | 'accepted' | 'rejected' | 'all';
  /** Default: images that are not hidden. */
  readonly hidden?: boolean;
  /** Changed at this time (ms) or later. */
  readonly updatedSince?: number;
  readonly limit?: number;
  /** Id of the last image of the previous page. */
  readonly marker?: string;
}

/** Fields of a new image. Sizes are in GiB of disk and MiB of memory, as the names show. */
export interface NewImage {
  /** UUID chosen by the caller: a repeated call returns the same image. */
  readonly id: string;
  readonly name?: string | null;
  /** Owner. Default: the caller's project. */
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

/** Changes of an image; omitted fields are not changed. */
export interface ImageChange extends Omit<NewImage, 'id' | 'properties'> {
  /** Merged into the existing properties; null removes one. */
  readonly properties?: Readonly<Record<string, string | null>>;
}

/** Content of an image, as a whole or in chunks. */
export type ImageContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Images from which servers boot, and snapshots of servers. Every method throws {@link CatalogError}; an image that the
 * caller may not see is `IMAGE_NOT_FOUND`.
 */
export interface ImageCatalog {
  get(caller: Caller, id: string): Promise<Image>;
  list(caller: Caller, query?: ImageQuery): Promise<readonly Image[]>;
  /** Creates a `queued` image without content. Idempotent for the same id and owner: returns the existing image. */
  create(caller: Caller, image: NewImage): Promise<Image>;
  /** Uploads the content of a `queued` image, which then becomes `active`. An `active` image is not changed. */
  upload(caller: Caller, id: string, content: ImageContent): Promise<Image>;
  /** Streams the content of an `active` image; empty if it has none. */
  download(caller: Caller, id: string): Promise<AsyncIterable<Uint8Array>>;
  update(caller: Caller, id: string, change: ImageChange): Promise<Image>;
  /**
   * Deletes an image.
   *
   * @throws `IMAGE_PROTECTED`; `IMAGE_FORBIDDEN` for an image of another owner
   */
  delete(caller: Caller, id: string): Promise<void>;
}
