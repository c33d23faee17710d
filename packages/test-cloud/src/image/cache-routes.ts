import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { accepted, del, get, noContent, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, forbidden, notFound } from '../service/service-error.js';
import { withoutBody } from './without-body.js';

/** An entry of the image cache. Times are in seconds since the epoch. */
interface CachedImage {
  readonly id: number;
  readonly image_id: string;
  readonly last_accessed: number;
  readonly last_modified: number;
  readonly size: number;
  readonly hits: number;
  readonly checksum: string | null;
}

const table = ({ cloud }: Call) => cloud.documents.table<CachedImage>('image/cached');

/** Removes an image from the image cache. */
export const removeFromCache = (call: Call, id: string): boolean => table(call).delete(id);

function requireAdmin(call: Call): void {
  if (!call.isAdmin) throw forbidden('Access was denied to this resource.');
}

async function findImage(call: Call) {
  const id = call.param('id');
  return { id, image: await call.cloud.catalogs.images.get(call.caller, id).catch(ifMissing) };
}

const imageNotFound = (id: string) => notFound(`Image ${id} not found.`);

/** The routes of the image cache. An image that a client queues for caching is cached immediately. */
export function cacheRoutes(): readonly Route[] {
  return [
    withoutBody(
      get('/v2/cache', (call) => {
        requireAdmin(call);
        return { cached_images: [...table(call).values()], queued_images: [] };
      }),
    ),
    del('/v2/cache', (call) => {
      requireAdmin(call);
      const clearTarget = call.req.header('x-image-cache-clear-target')?.toLowerCase() ?? '';
      if (!['', 'cache', 'queue'].includes(clearTarget))
        throw badRequest("If provided 'x-image-cache-clear-target' must be 'cache', 'queue' or empty string.");
      if (clearTarget !== 'queue') for (const id of [...table(call).keys()]) removeFromCache(call, id);
      return noContent();
    }),
    put('/v2/cache/:id', async (call) => {
      const { id, image } = await findImage(call);
      if (!image) throw imageNotFound(id);
      requireAdmin(call);
      if (image.status !== 'active') throw badRequest('Only images with status active can be targeted for queueing');
      const now = call.cloud.clock.now() / 1000;
      const { sizeBytes, checksum } = image;
      const number = Math.max(0, ...[...table(call).values()].map((cached) => cached.id)) + 1;
      if (!table(call).has(id))
        table(call).set(id, {
          id: number,
          image_id: id,
          last_accessed: now,
          last_modified: now,
          size: sizeBytes ?? 0,
          hits: 0,
          checksum,
        });
      return accepted();
    }),
    del('/v2/cache/:id', async (call) => {
      const { id, image } = await findImage(call);
      if (!image && !table(call).has(id)) throw imageNotFound(id);
      requireAdmin(call);
      removeFromCache(call, id);
      return noContent();
    }),
    withoutBody(
      get('/v2/cache/nodes/:id', async (call) => {
        requireAdmin(call);
        const { id, image } = await findImage(call);
        if (!image) throw imageNotFound(id);
        return table(call).has(id) ? [call.base] : [];
      }),
    ),
    ...['clean', 'prune'].map((action) =>
      post(`/v2/cache/${action}`, (call) => {
        requireAdmin(call);
        return action === 'clean' ? new Reply(200) : { total_files_pruned: 0, total_bytes_pruned: 0 };
      }),
    ),
  ];
}
