import { until } from '@apistrata/microversion';

/** The versions in which the compute API stands in front of the image, network and volume services. */
export const proxied = until('2.35', true);
/** The same for the metadata of images, which stayed a little longer. */
export const imageMetadataProxied = until('2.38', true);
