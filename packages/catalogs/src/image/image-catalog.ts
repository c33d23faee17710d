import type { Caller } from '../caller/caller.js';

/** How far an image is: only `active` ones boot. */
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

/** Who sees an image: everybody, its project, members too, or whoever knows the id. */
export type ImageVisibility = 'public' | 'private' | 'shared' | 'community';

/** An image. Times in milliseconds since the epoch, null where the service does not tell. */
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
  /** Everything else that is known of it: `image_type`, `instance_uuid`, `base_image_ref`, `hw_disk_bus`, ... */
  readonly properties: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a list is narrowed by; everything given must hold. Newest first. */
export interface ImageQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly status?: ImageStatus;
  readonly visibility?: ImageVisibility;
  /** Only this owner's. */
  readonly projectId?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** Of images that others share with the caller: what it said to the offer. Left out: those it accepted. */
  readonly memberStatus?: 'pending' | 'accepted' | 'rejected' | 'all';
  /** Left out: the images that are not hidden. */
  readonly hidden?: boolean;
  /** Changed at this time (ms) or later. */
  readonly updatedSince?: number;
  readonly limit?: number;
  /** Id of the last image of the page before. */
  readonly marker?: string;
}

/** An image to be made. Sizes in GiB of disk and MiB of memory, as the names say. */
export interface NewImage {
  /** UUID chosen by the caller: the same call made twice gives the same image. */
  readonly id: string;
  readonly name?: string | null;
  /** Owner; the caller's project when left out. */
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

/** What may be changed of an image; what is left out stays. */
export interface ImageChange extends Omit<NewImage, 'id' | 'properties'> {
  /** Merged into what is there; null removes one. */
  readonly properties?: Readonly<Record<string, string | null>>;
}

/** An image's bytes, at once or piece by piece. */
export type ImageContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * The images a server can be made from, and where its snapshots go.
 * Every method throws {@link CatalogError}; an image the caller may not see is `IMAGE_NOT_FOUND`.
 */
export interface ImageCatalog {
  get(caller: Caller, id: string): Promise<Image>;
  list(caller: Caller, query?: ImageQuery): Promise<readonly Image[]>;
  /** A `queued` image, without content. Once more with the same id and owner: what is there already. */
  create(caller: Caller, image: NewImage): Promise<Image>;
  /** Gives a `queued` image its content; it is `active` afterwards. An `active` one is left as it is. */
  upload(caller: Caller, id: string, content: ImageContent): Promise<Image>;
  /** The content of an `active` image, chunk by chunk; nothing for an image that has none. */
  download(caller: Caller, id: string): Promise<AsyncIterable<Uint8Array>>;
  update(caller: Caller, id: string, change: ImageChange): Promise<Image>;
  /** Throws `IMAGE_PROTECTED`, and `IMAGE_FORBIDDEN` for somebody else's. */
  delete(caller: Caller, id: string): Promise<void>;
}
