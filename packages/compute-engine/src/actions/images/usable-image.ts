import { ifMissing } from '../../catalogs/catalog-error.js';
import type { Image } from '../../catalogs/image-catalog.js';
import type { ServerScope } from '../../core.js';
import { badRequest } from '../../errors.js';

/**
 * An active image that the caller may see and that the server's flavor is large enough for; 400 otherwise.
 * @param rootGb size of the disk that it goes to, in GiB; 0 sets no bound
 */
export async function usableImage(
  { core, context, server: { flavor } }: ServerScope,
  id: string,
  rootGb = flavor.diskGb,
): Promise<Image> {
  const image = await core.catalogs.images.get(context.caller, id).catch(ifMissing);
  if (!image) throw badRequest(`Image ${id} could not be found.`);
  if (image.status !== 'active') throw badRequest(`Image ${id} is not active.`);
  if (flavor.memoryMb < image.minRamMb) throw badRequest("Flavor's memory is too small for requested image.");
  if (rootGb > 0 && rootGb < image.minDiskGb) {
    throw badRequest(
      `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${rootGb}, minimum size is ${image.minDiskGb}.`,
    );
  }
  return image;
}
