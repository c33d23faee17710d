import { type Image, ifMissing } from '@apistrata/catalogs';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { badRequest } from '../errors/rejection.js';
import type { Flavor } from '../model/index.js';

/** Returns an image. Throws 400 if the image is not active or the caller cannot see it. */
export async function findActiveImage({ catalogs }: Core, { caller }: Context, id: string): Promise<Image> {
  const image = await catalogs.images.get(caller, id).catch(ifMissing);
  if (!image) throw badRequest(`Image ${id} could not be found.`);
  if (image.status !== 'active') throw badRequest(`Image ${id} is not active.`);
  return image;
}

/** Throws 400 if a flavor has less memory than an image requires. */
export function checkMemory(flavor: Pick<Flavor, 'memoryMb'>, minRamMb: number): void {
  if (flavor.memoryMb < minRamMb) throw badRequest("Flavor's memory is too small for requested image.");
}

/** Throws 400 if a disk is smaller than its image requires. A disk size of 0 means unlimited. */
export function checkDisk(diskGb: number, { minDiskGb }: Image): void {
  if (diskGb > 0 && diskGb < minDiskGb) {
    throw badRequest(
      `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${diskGb}, minimum size is ${minDiskGb}.`,
    );
  }
}
