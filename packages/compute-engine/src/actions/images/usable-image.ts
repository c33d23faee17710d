import type { Image } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { activeImage, checkDisk, checkMemory } from '../../servers/active-image.js';

/**
 * Returns an active image that the caller may see and that fits the server's flavor; throws 400 otherwise.
 * @param rootGb size of the target disk in GiB; 0 is unlimited
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
