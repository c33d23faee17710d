import { ifMissing } from '../service/if-missing.js';
import { del, get, post, type Route } from '../service/route.js';
import { conflict, forbidden, notFound } from '../service/service-error.js';
import { STORE_ID } from './image-view.js';
import { requirePolicy } from './policies.js';
import { validateBody } from './schema-check.js';
import { LOCATION } from './schemas.js';
import { withoutBody } from './without-body.js';

/** The routes for image locations. Image data is only in this cloud's store, not at other URLs. */
export function locationRoutes(): readonly Route[] {
  const path = '/v2/images/:id/locations';
  return [
    get(path, async (call) => {
      const { id, sizeBytes } = await call.cloud.catalogs.images.get(call.caller, call.param('id'));
      requirePolicy(call, 'fetch_image_location');
      return sizeBytes === null ? [] : [{ url: `${STORE_ID}://${id}`, metadata: { store: STORE_ID } }];
    }),
    post(path, async (call) => {
      validateBody(LOCATION, call.req.body);
      const { status, projectId } = await call.cloud.catalogs.images.get(call.caller, call.param('id'));
      if (status !== 'queued') throw conflict(`It's not allowed to add locations if image status is ${status}.`);
      requirePolicy(call, 'add_image_location', projectId);
      throw forbidden('http store must be enabled to use location API by normal user.');
    }),
    withoutBody(
      del('/v2/stores/:store/:id', async (call) => {
        const store = call.param('store');
        if (store !== STORE_ID) throw conflict(`The selected store ${store} is not available on this node.`);
        const id = call.param('id');
        const image = await call.cloud.catalogs.images.get(call.caller, id).catch(ifMissing);
        if (!image) throw notFound(`Failed to find image ${id}`);
        requirePolicy(call, 'delete_image_location');
        if (image.status !== 'active')
          throw conflict("It's not allowed to remove image data from store if image status is not 'active'");
        throw forbidden(
          'Cannot delete image data from the only store containing it. Consider deleting the image instead.',
        );
      }),
    ),
  ];
}
