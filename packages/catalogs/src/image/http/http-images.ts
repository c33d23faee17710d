import { checkOptions } from '@apistrata/record-store/options';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError, type CatalogErrorCode } from '../../errors/catalog-error.js';
import { type HttpCatalogOptions, httpCatalogOptions, ServiceClient } from '../../http/service-client.js';
import type { Image, ImageCatalog, ImageChange, ImageContent, ImageQuery, NewImage } from '../image-catalog.js';

/** The endpoint, credentials and limits for requests to a remote image service. Times are in milliseconds. */
export interface HttpImagesOptions extends HttpCatalogOptions {
  /** The timeout of an upload or download. Default: 600,000. */
  readonly uploadTimeoutMs?: number;
}

/** The common image fields, by JSON key. All other JSON keys are image properties. */
const fields = {
  id: 'id',
  name: 'name',
  status: 'status',
  visibility: 'visibility',
  owner: 'projectId',
  min_disk: 'minDiskGb',
  min_ram: 'minRamMb',
  size: 'sizeBytes',
  virtual_size: 'virtualSizeBytes',
  checksum: 'checksum',
  disk_format: 'diskFormat',
  container_format: 'containerFormat',
  protected: 'protected',
  os_hidden: 'hidden',
  tags: 'tags',
} as const satisfies Record<string, keyof Image>;

const wireNames = Object.fromEntries(Object.entries(fields).map(([wire, own]) => [own, wire]));

/** The JSON keys that are not image properties. */
const nonPropertyKeys = new Set([
  ...Object.keys(fields),
  'created_at',
  'updated_at',
  'self',
  'file',
  'schema',
  'locations',
  'direct_url',
  'stores',
  'os_hash_algo',
  'os_hash_value',
]);

function readImage(wire: Record<string, any>): Image {
  const own = Object.fromEntries(Object.entries(fields).map(([name, field]) => [field, wire[name] ?? null]));
  const properties = Object.entries(wire).filter(([key, value]) => !nonPropertyKeys.has(key) && value !== null);
  return {
    ...(own as unknown as Image),
    minDiskGb: wire.min_disk ?? 0,
    minRamMb: wire.min_ram ?? 0,
    protected: wire.protected ?? false,
    hidden: wire.os_hidden ?? false,
    tags: wire.tags ?? [],
    properties: Object.fromEntries(properties.map(([key, value]) => [key, String(value)])),
    createdAt: Date.parse(wire.created_at),
    updatedAt: Date.parse(wire.updated_at),
  };
}

/** Converts image fields to the JSON keys of the image service. */
function toWireFields(given: Partial<Image>): Record<string, unknown> {
  const fields = Object.entries(given).filter(([field, value]) => field in wireNames && value !== undefined);
  return Object.fromEntries(fields.map(([field, value]) => [wireNames[field], value]));
}

const notFoundErrors = { 404: 'IMAGE_NOT_FOUND' } as const satisfies Record<number, CatalogErrorCode>;
const imageErrors = {
  ...notFoundErrors,
  403: 'IMAGE_FORBIDDEN',
  409: 'IMAGE_WRONG_STATUS',
  413: 'IMAGE_TOO_LARGE',
} as const;

/** Returns the JSON Pointer to a top-level key. */
function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * Creates an image catalog that calls the public API (version 2) of an image service.
 *
 * @example
 * ```ts
 * import { httpImages, ServiceSession } from '@apistrata/catalogs/http';
 *
 * const session = new ServiceSession({
 *   authUrl: 'http://identity:5000',
 *   username: 'compute',
 *   password: 'secret',
 *   projectName: 'service',
 * });
 * const images = httpImages({ url: 'http://images:9292', session });
 * ```
 */
export function httpImages(options: HttpImagesOptions): ImageCatalog {
  checkOptions('httpImages()', options, { ...httpCatalogOptions, uploadTimeoutMs: true });
  const client = new ServiceClient('image', '/v2', options);
  const path = (id: string) => `/images/${encodeURIComponent(id)}`;

  /** Returns whether the caller may see an image. The service user's token can read all images. */
  async function isVisible(caller: Caller, image: Image): Promise<boolean> {
    if (caller.token || canAccessProject(caller, image.projectId)) return true;
    if (image.visibility !== 'shared') return image.visibility !== 'private';
    const member = `${path(image.id)}/members/${encodeURIComponent(caller.projectId)}`;
    try {
      await client.request('GET', member, { caller, as: 'service', errors: notFoundErrors });
      return true;
    } catch (error) {
      if ((error as CatalogError).kind === 'not-found') return false;
      throw error;
    }
  }

  async function get(caller: Caller, id: string): Promise<Image> {
    const { body } = await client.request('GET', path(id), { caller, as: 'caller', errors: notFoundErrors });
    const image = readImage(body);
    if (!(await isVisible(caller, image))) throw new CatalogError('IMAGE_NOT_FOUND', `No image found with ID ${id}`);
    return image;
  }

  /**
   * Returns an image that the caller may change because the caller owns the image or is an administrator. The image
   * service cannot check this, because the request may contain the service user's token.
   */
  async function getChangeable(caller: Caller, id: string): Promise<Image> {
    const image = await get(caller, id);
    if (!canAccessProject(caller, image.projectId))
      throw new CatalogError('IMAGE_FORBIDDEN', `You are not permitted to change image ${id}`);
    return image;
  }

  return {
    get,

    async list(caller: Caller, query: ImageQuery = {}): Promise<readonly Image[]> {
      const visibleImages: Image[] = [];
      let marker = query.marker;
      do {
        const remaining = query.limit === undefined ? undefined : query.limit - visibleImages.length;
        if (remaining !== undefined && remaining <= 0) break;
        const { body } = await client.request('GET', '/images', {
          caller,
          as: 'caller',
          errors: { 404: 'MARKER_NOT_FOUND', 400: 'MARKER_NOT_FOUND' },
          query: {
            ...query.properties,
            name: query.name,
            status: query.status,
            visibility: query.visibility,
            owner: query.projectId,
            tag: query.tags,
            id: query.ids && `in:${query.ids.join(',')}`,
            os_hidden: query.hidden === undefined ? undefined : String(query.hidden),
            updated_at:
              query.updatedSince === undefined ? undefined : `gte:${new Date(query.updatedSince).toISOString()}`,
            limit: remaining === undefined ? undefined : String(remaining),
            marker,
          },
        });
        const page: Image[] = body.images.map(readImage);
        for (const image of page) if (await isVisible(caller, image)) visibleImages.push(image);
        marker = body.next ? page.at(-1)?.id : undefined;
      } while (marker !== undefined);
      return visibleImages;
    },

    async create(caller: Caller, image: NewImage): Promise<Image> {
      const { properties, projectId = caller.projectId, ...given } = image;
      // The image service rejects an upload to an image without formats.
      const formats = { diskFormat: given.diskFormat ?? 'raw', containerFormat: given.containerFormat ?? 'bare' };
      const owner = caller.token && projectId === caller.projectId ? {} : { owner: projectId };
      const json = { ...properties, ...toWireFields({ ...given, ...formats }), ...owner };
      try {
        const { body } = await client.request('POST', '/images', {
          caller,
          as: 'caller',
          json,
          errors: { 409: 'IMAGE_EXISTS' },
        });
        return readImage(body);
      } catch (error) {
        if ((error as CatalogError).code !== 'IMAGE_EXISTS') throw error;
        const existingImage = await get(caller, image.id).catch(() => undefined);
        if (existingImage?.projectId !== projectId) throw error;
        return existingImage;
      }
    },

    async upload(caller: Caller, id: string, content: ImageContent): Promise<Image> {
      if ((await getChangeable(caller, id)).status === 'active') return get(caller, id);
      try {
        await client.request('PUT', `${path(id)}/file`, {
          caller,
          as: 'caller',
          content,
          headers: { 'Content-Type': 'application/octet-stream' },
          timeoutMs: options.uploadTimeoutMs ?? 600_000,
          errors: imageErrors,
        });
      } catch (error) {
        // The image is read again because the service may have stored the data although its response was lost.
        const image = await get(caller, id).catch(() => undefined);
        if (image?.status !== 'active') throw error;
      }
      return get(caller, id);
    },

    async download(caller: Caller, id: string): Promise<AsyncIterable<Uint8Array>> {
      await get(caller, id);
      return client.download(`${path(id)}/file`, {
        caller,
        as: 'caller',
        timeoutMs: options.uploadTimeoutMs ?? 600_000,
        errors: imageErrors,
      });
    },

    async update(caller: Caller, id: string, { properties = {}, ...given }: ImageChange): Promise<Image> {
      const previousImage = await getChangeable(caller, id);
      const newValues = { ...toWireFields(given), ...properties };
      const patch = Object.entries(newValues).flatMap(([key, value]) => {
        const exists = key in fields || key in previousImage.properties;
        if (value !== null || key in fields) return [{ op: exists ? 'replace' : 'add', path: jsonPointer(key), value }];
        return exists ? [{ op: 'remove', path: jsonPointer(key) }] : [];
      });
      if (patch.length === 0) return previousImage;
      const { body } = await client.request('PATCH', path(id), {
        caller,
        as: 'caller',
        json: patch,
        headers: { 'Content-Type': 'application/openstack-images-v2.1-json-patch' },
        errors: imageErrors,
      });
      return readImage(body);
    },

    async delete(caller: Caller, id: string): Promise<void> {
      const image = await getChangeable(caller, id);
      const errors = { ...imageErrors, 403: image.protected ? 'IMAGE_PROTECTED' : 'IMAGE_FORBIDDEN' } as const;
      await client.request('DELETE', path(id), { caller, as: 'caller', errors });
    },
  };
}
