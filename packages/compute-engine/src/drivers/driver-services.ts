import type { ImageCatalog, NetworkCatalog, NetworkPlans, VolumeCatalog } from '@apistrata/catalogs';
import type { HostLinks } from './host-links.js';

/**
 * What a driver may ask of the services around it. It asks in the name of the server's project: `callerFor(server)`. The
 * catalogs are the embedded ones or clients of real services, as everywhere.
 */
export interface DriverServices {
  readonly images: Pick<ImageCatalog, 'get' | 'download'>;
  /** With what there is to build, where the service can tell. */
  readonly networks: Pick<NetworkCatalog, 'getNetwork' | 'getSubnet'> & Partial<NetworkPlans>;
  readonly volumes: Pick<VolumeCatalog, 'getVolume'>;
  /** Ways to the drivers of other hosts; left out where this process is the only one that runs machines. */
  readonly hosts?: HostLinks;
}
