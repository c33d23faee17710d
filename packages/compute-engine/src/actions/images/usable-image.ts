import type { Image } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { checkDisk, checkMemory, findActiveImage } from '../../servers/active-image.js';

/**
 * Returns an image that is active, visible to the caller, and suitable for the server's flavor. Throws 400 otherwise.
 * @param rootGb size of the target disk in GiB; 0 means unlimited
 */
export async function findUsableImage(
  { core, context, server: { flavor } }: ServerScope,
  id: string,
  rootGb = flavor.diskGb,
): Promise<Image> {
  const image = await findActiveImage(core, context, id);
  checkMemory(flavor, image.minRamMb);
  checkDisk(rootGb, image);
  return image;
}
