import { type New, retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import { type EmbeddedOptions, embeddedContext } from '../../builtin/embedded-options.js';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type {
  Image,
  ImageCatalog,
  ImageChange,
  ImageContent,
  ImageQuery,
  ImageStatus,
  NewImage,
} from '../image-catalog.js';
import { contentInDatabase } from './content-in-database.js';
import { contentInFiles } from './content-in-files.js';
import { canSee, imageNotFound, narrowImages } from './image-access.js';
import { imageMembers } from './image-members.js';
import type { ImageSeed } from './image-seed.js';
import { type ImageRecord, imageTables } from './image-tables.js';
import { replaceImages } from './replace-images.js';

export interface EmbeddedImagesOptions extends EmbeddedOptions {
  /**
   * The directory that stores image data. A missing directory is created. Default: the database stores the data, which
   * suits only small images.
   */
  readonly directory?: string;
  /** The maximum size of an image's data, in bytes. Default: unlimited in a directory, 256 MiB in the database. */
  readonly maxContentBytes?: number;
}

const { images } = imageTables;

function createImageRecord(image: NewImage, projectId: string | null, now: number): New<ImageRecord> {
  return {
    id: image.id,
    name: image.name ?? null,
    status: 'queued',
    visibility: image.visibility ?? 'shared',
    projectId,
    minDiskGb: image.minDiskGb ?? 0,
    minRamMb: image.minRamMb ?? 0,
    sizeBytes: null,
    virtualSizeBytes: null,
    checksum: null,
    sha512: null,
    diskFormat: image.diskFormat ?? null,
    containerFormat: image.containerFormat ?? null,
    protected: image.protected ?? false,
    hidden: image.hidden ?? false,
    tags: [...new Set(image.tags)],
    properties: image.properties ?? {},
    createdAt: now,
    updatedAt: now,
  };
}

function mergeProperties(previous: Image['properties'], change: ImageChange['properties']): Image['properties'] {
  const mergedEntries = Object.entries({ ...previous, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(mergedEntries) as Image['properties'];
}

/**
 * Creates an image catalog in the engine's own database. In addition to {@link ImageCatalog}, the catalog has the
 * operations that an image service needs.
 */
export function embeddedImages(options: EmbeddedImagesOptions) {
  const context = embeddedContext('embeddedImages', options, ['directory', 'maxContentBytes']);
  const { store, clock, acceptsUnknownIds } = context;
  const databaseContents = contentInDatabase(options.store, options.maxContentBytes);
  const contents =
    options.directory === undefined
      ? databaseContents
      : contentInFiles(options.directory, databaseContents, options.maxContentBytes);

  async function acceptUnknownImage(id: string): Promise<ImageRecord> {
    rejectNul(id);
    return retryOnUniqueViolation(store, async (tx) => {
      const record = createImageRecord(
        { id, name: id, visibility: 'public', diskFormat: 'qcow2', containerFormat: 'bare' },
        null,
        clock.now(),
      );
      return (await images.get(tx, id)) ?? images.insert(tx, { ...record, status: 'active', sizeBytes: 0 });
    });
  }

  async function getVisible(caller: Caller, id: string, session: Session = store): Promise<ImageRecord> {
    const image = await images.get(session, id);
    if (!image && acceptsUnknownIds) return acceptUnknownImage(id);
    if (!image || !(await canSee(session, caller, image))) throw imageNotFound(id);
    return image;
  }

  async function getChangeable(caller: Caller, id: string): Promise<ImageRecord> {
    const image = await getVisible(caller, id);
    if (!canAccessProject(caller, image.projectId))
      throw new CatalogError('IMAGE_FORBIDDEN', `You are not permitted to change image ${id}`);
    return image;
  }

  /** Changes an image. The image is locked and read again, so that no concurrent change is lost. */
  async function change(
    caller: Caller,
    id: string,
    getChanges: (image: ImageRecord, tx: Tx) => Partial<New<ImageRecord>> | Promise<Partial<New<ImageRecord>>>,
  ): Promise<ImageRecord> {
    await getChangeable(caller, id);
    return store.transaction(async (tx) => {
      const image = await images.lock(tx, id);
      if (!image) throw imageNotFound(id);
      return images.update(tx, { ...image, ...(await getChanges(image, tx)), updatedAt: clock.now() });
    });
  }

  function createStatusTransition(from: ImageStatus, to: ImageStatus) {
    return (caller: Caller, id: string): Promise<Image> =>
      change(caller, id, (image) => {
        if (image.status !== from && image.status !== to)
          throw new CatalogError('IMAGE_WRONG_STATUS', `Image ${id} is ${image.status}, not ${from}`);
        return { status: to };
      });
  }

  async function createPresetImage(seed: Omit<ImageSeed, 'replacesIdPrefix'>): Promise<void> {
    const { status, sizeBytes = 0, checksum = null, virtualSizeBytes = null, content, ...image } = seed;
    const bytes = typeof content === 'function' ? content() : content;
    const receivedContent = bytes && (await contents.receive(image.id, bytes));
    await retryOnUniqueViolation(store, async (tx) => {
      if (await images.get(tx, image.id)) return;
      const record = createImageRecord(
        { visibility: 'public', diskFormat: 'qcow2', containerFormat: 'bare', ...image },
        image.projectId ?? null,
        clock.now(),
      );
      await images.insert(tx, {
        ...record,
        status: status ?? 'active',
        sizeBytes: receivedContent?.sizeBytes ?? sizeBytes,
        virtualSizeBytes,
        checksum: receivedContent?.checksum ?? checksum,
        sha512: receivedContent?.sha512 ?? null,
      });
      await receivedContent?.retain(tx);
    });
  }

  const catalog = {
    get: (caller: Caller, id: string): Promise<ImageRecord> => getVisible(caller, id),

    list: (caller: Caller, query: ImageQuery = {}): Promise<readonly ImageRecord[]> =>
      listPage(store, images, 'newest first', query, (rows) => narrowImages(store, caller, query, rows)),

    async create(caller: Caller, image: NewImage): Promise<ImageRecord> {
      rejectNul(image);
      const projectId = image.projectId ?? caller.projectId;
      return retryOnUniqueViolation(store, async (tx) => {
        const existingImage = await images.get(tx, image.id);
        if (!existingImage) return images.insert(tx, createImageRecord(image, projectId, clock.now()));
        if (existingImage.projectId === projectId) return existingImage;
        throw new CatalogError('IMAGE_EXISTS', `Image ID ${image.id} already exists!`);
      });
    },

    async upload(caller: Caller, id: string, content: ImageContent): Promise<ImageRecord> {
      if ((await getChangeable(caller, id)).status === 'active') return getVisible(caller, id);
      const receivedContent = await contents.receive(id, content);
      const { sizeBytes, checksum, sha512 } = receivedContent;
      try {
        return await change(caller, id, async (image, tx) => {
          if (image.status === 'active') return {};
          if (image.status !== 'queued' && image.status !== 'saving')
            throw new CatalogError('IMAGE_WRONG_STATUS', `Image ${id} is ${image.status} and does not accept content`);
          await receivedContent.retain(tx);
          return { status: 'active', sizeBytes, checksum, sha512 };
        });
      } finally {
        if ((await images.get(store, id))?.sha512 !== sha512) await receivedContent.discard();
      }
    },

    /**
     * Streams an image's data. The stream of a preset image without data is empty. Administrators can also read
     * deactivated images.
     */
    async download(caller: Caller, id: string): Promise<AsyncIterable<Uint8Array>> {
      const image = await getVisible(caller, id);
      if (image.status !== 'active' && !(image.status === 'deactivated' && isAdmin(caller)))
        throw new CatalogError(
          image.status === 'deactivated' ? 'IMAGE_FORBIDDEN' : 'IMAGE_WRONG_STATUS',
          `Image ${id} is ${image.status}`,
        );
      return contents.read(image);
    },

    async update(caller: Caller, id: string, { properties, ...fields }: ImageChange): Promise<ImageRecord> {
      rejectNul([properties, fields]);
      const definedFields = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      return change(caller, id, (image) => ({
        ...definedFields,
        properties: mergeProperties(image.properties, properties),
      }));
    },

    async delete(caller: Caller, id: string): Promise<void> {
      await getChangeable(caller, id);
      const dropContent = await store.transaction(async (tx) => {
        const image = await images.lock(tx, id);
        if (!image) throw imageNotFound(id);
        if (image.protected)
          throw new CatalogError('IMAGE_PROTECTED', `Image ${id} is protected and cannot be deleted.`);
        await tx.db.deleteFrom('image_members').where('image_id', '=', id).execute();
        await images.delete(tx, id);
        return contents.drop(tx, image);
      });
      await dropContent();
    },

    deactivate: createStatusTransition('active', 'deactivated'),
    reactivate: createStatusTransition('deactivated', 'active'),
    ...imageMembers(context, { getVisible, getChangeable }),

    /**
     * Creates the preset images that do not exist yet. Existing images are not changed, but images that a preset image
     * replaces are hidden.
     */
    async seed(preset: readonly ImageSeed[]): Promise<void> {
      for (const { replacesIdPrefix, ...image } of preset) {
        if (!(await images.get(store, image.id))) await createPresetImage(image);
        if (replacesIdPrefix !== undefined) await replaceImages(store, image.id, replacesIdPrefix, clock.now());
      }
    },
  };
  return catalog satisfies ImageCatalog;
}

/** An image catalog in the engine's database, with the operations that an image service needs. */
export type EmbeddedImageCatalog = ReturnType<typeof embeddedImages>;
