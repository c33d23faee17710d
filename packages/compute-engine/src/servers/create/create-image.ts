import type { Image } from '@apistrata/catalogs';
import { badRequest } from '../../errors/rejection.js';
import type { Flavor } from '../../model/index.js';
import { checkDisk } from '../active-image.js';

const BYTES_PER_GIB = 1024 ** 3;

/** Throws 400 if a local root disk is too small for its image. A disk size of 0 means unlimited. */
export function checkLocalDisk({ diskGb }: Pick<Flavor, 'diskGb'>, image: Image): void {
  if (diskGb === 0) return;
  if ((image.sizeBytes ?? 0) > diskGb * BYTES_PER_GIB) {
    throw badRequest(`Flavor's disk is too small for requested image: it has ${diskGb} GiB.`);
  }
  checkDisk(diskGb, image);
}
