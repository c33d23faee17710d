import type { Image } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { activeImage, checkDisk, checkMemory } from '../../servers/active-image.js';

/**
 * Returns an image that is active, visible to the caller, and suitable for the server's flavor. Throws 400 otherwise.
 * @param rootGb size of the target disk in GiB; 0 means unlimited
 */
export async function usableImage(
  { core, context, server: { flavor } }: ServerScope,
  id: string,
  rootGb = flavor.diskGb,
): Promise<Image> {
  const image = await activeImage(core, context, id);
  checkMemory(flavor, image.minRamMb);
  checkDisk(rootGb, image);
  return image;
}
