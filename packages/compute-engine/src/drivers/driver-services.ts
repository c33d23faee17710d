import type { ImageCatalog, NetworkCatalog, NetworkPlans, VolumeCatalog } from '@apistrata/catalogs';
import type { HostLinks } from './host-links.js';

/**
 * Services that a driver may call on behalf of a server's project, by passing `callerFor(server)`. The catalogs are the
 * embedded ones or clients of external services.
 */
export interface DriverServices {
  readonly images: Pick<ImageCatalog, 'get' | 'download'>;
  /** The methods of `NetworkPlans` are present if the service supports them. */
  readonly networks: Pick<NetworkCatalog, 'getNetwork' | 'getSubnet'> & Partial<NetworkPlans>;
  readonly volumes: Pick<VolumeCatalog, 'getVolume'>;
  /** Links to the drivers of other hosts; undefined if this process is the only one that runs machines. */
  readonly hosts?: HostLinks;
}
