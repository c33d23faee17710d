import { defineService } from '../service/fake-service.js';
import { Resource } from '../service/resource.js';
import { resourceRoutes } from '../service/resource-routes.js';
import type { Route } from '../service/route.js';
import { ServiceError } from '../service/service-error.js';
import { cacheRoutes } from './cache-routes.js';
import { contentRoutes } from './content-routes.js';
import { formatImageFault } from './image-fault.js';
import { imageStyle } from './image-style.js';
import { images } from './images.js';
import { importRoutes } from './import-routes.js';
import { infoRoutes } from './info-routes.js';
import { locationRoutes } from './location-routes.js';
import { memberRoutes } from './member-routes.js';
import { metadefRoutes } from './metadef-routes.js';
import { tasks } from './tasks.js';
import { withoutBody } from './without-body.js';

/** Returns the routes of the image service. */
export function imageRoutes(): readonly Route[] {
  const resource = new Resource(imageStyle, images);
  return [
    ...infoRoutes(),
    ...contentRoutes(resource),
    ...importRoutes(resource),
    ...locationRoutes(),
    ...memberRoutes(),
    ...metadefRoutes(),
    ...cacheRoutes(),
    ...resourceRoutes(new Resource(imageStyle, tasks)),
    ...resourceRoutes(resource).map((route) =>
      /:id$/.test(route.path) && route.method !== 'patch' ? withoutBody(route) : route,
    ),
  ];
}

/** The image service, version 2. Servers boot from the same image catalog. */
export const imageService = defineService({
  name: 'image',
  types: ['image'],
  strict: true,
  rejectsMethods: true,
  routes: imageRoutes,
  fault: formatImageFault,
  fromParserError: ({ status, type, message }) =>
    new ServiceError(status, type === 'entity.parse.failed' ? 'Malformed JSON in request body.' : message),
});
