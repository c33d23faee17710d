import type { Image } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { activeImage, checkDisk, checkMemory } from '../../servers/active-image.js';

/**
 * An active image that the caller may see and that the server's flavor is large enough for; 400 otherwise.
 * @param rootGb size of the disk that it goes to, in GiB; 0 sets no bound
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
