import { Resource } from '../service/resource.js';
import { resourceRoutes } from '../service/resource-routes.js';
import { standIn } from '../service/stand-in.js';
import { contentRoutes } from './content-routes.js';
import { imageFault } from './image-fault.js';
import { imageStyle } from './image-style.js';
import { images } from './images.js';
import { infoRoutes } from './info-routes.js';
import { memberRoutes } from './member-routes.js';
import { metadefRoutes } from './metadef-routes.js';
import { tasks } from './tasks.js';

/** The image service, version 2, on the catalog that servers boot from. */
export const imageService = standIn({
  name: 'image',
  strict: true,
  routes: () => {
    const resource = new Resource(imageStyle, images);
    return [
      ...infoRoutes(),
      ...contentRoutes(resource),
      ...memberRoutes(),
      ...metadefRoutes(),
      ...resourceRoutes(new Resource(imageStyle, tasks)),
      ...resourceRoutes(resource),
    ];
  },
  fault: imageFault,
});
