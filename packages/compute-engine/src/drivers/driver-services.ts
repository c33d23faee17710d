import type { ImageCatalog } from '../catalogs/image-catalog.js';
import type { NetworkCatalog } from '../catalogs/network-catalog.js';
import type { VolumeCatalog } from '../catalogs/volume-catalog.js';

/**
 * What a driver may ask of the services around it. It asks in the name of the server's project: `callerFor(server)`. The
 * catalogs are the embedded ones or clients of real services, as everywhere.
 */
export interface DriverServices {
  readonly images: Pick<ImageCatalog, 'get' | 'download'>;
  readonly networks: Pick<NetworkCatalog, 'getNetwork' | 'getSubnet'>;
  readonly volumes: Pick<VolumeCatalog, 'getVolume'>;
}
