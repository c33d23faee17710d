import { until } from '@apistrata/microversion';

/** The versions in which the compute API proxies the image, network and volume services. */
export const proxied = until('2.35', true);
/** The versions of the proxy for image metadata, which was removed later. */
export const imageMetadataProxied = until('2.38', true);
