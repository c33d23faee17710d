import { STATUS_CODES } from 'node:http';
import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import { standIn } from '../service/stand-in.js';
import { imageRoutes } from './image-routes.js';

/** The image service, version 2, on the catalog that servers boot from. */
export function imageService(catalogs: () => EmbeddedCatalogs) {
  return standIn({
    name: 'image',
    routes: () => imageRoutes(catalogs),
    fault: ({ status, message }) => ({
      message,
      code: `${status} ${STATUS_CODES[status]}`,
      title: STATUS_CODES[status],
    }),
  });
}
