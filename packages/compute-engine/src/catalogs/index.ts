import type { ImageCatalog } from './images/catalog.js';
import type { NetworkCatalog } from './networks/catalog.js';
import type { ShareCatalog } from './shares/catalog.js';
import type { VolumeCatalog } from './volumes/catalog.js';

export * from './catalog-error.js';
export type * from './images/catalog.js';
export type * from './networks/catalog.js';
export type * from './shares/catalog.js';
export type * from './volumes/catalog.js';

/** What the engine knows of the other services. Each may be embedded or remote. */
export interface Catalogs {
  readonly images: ImageCatalog;
  readonly networks: NetworkCatalog;
  readonly volumes: VolumeCatalog;
  readonly shares: ShareCatalog;
}
