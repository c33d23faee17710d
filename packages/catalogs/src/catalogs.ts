import type { ImageCatalog } from './image/image-catalog.js';
import type { NetworkCatalog } from './network/network-catalog.js';
import type { ShareCatalog } from './share/share-catalog.js';
import type { VolumeCatalog } from './volume/volume-catalog.js';

/** The image, network, volume and share services that the compute engine uses. Each service is built-in or remote. */
export interface Catalogs {
  readonly images: ImageCatalog;
  readonly networks: NetworkCatalog;
  readonly volumes: VolumeCatalog;
  readonly shares: ShareCatalog;
}
