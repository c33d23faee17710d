import type { FileHandle } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';

const SECTOR_BYTES = 512;
const MAGIC = 'KDMV';
const CAPACITY_OFFSET = 12;
const DESCRIPTOR_OFFSET = 28;
const DESCRIPTOR_SECTORS_OFFSET = 36;
const MAX_DESCRIPTOR_SECTORS = 128n;

/** The vmdk types that consist of a single file. */
const SELF_CONTAINED_TYPES: ReadonlySet<string> = new Set(['monolithicSparse', 'streamOptimized']);
const NO_PARENT_ID = 'ffffffff';

const createRejection = (reason: string) =>
  new QemuError('IMAGE_REJECTED', `the image is a vmdk file ${reason}: convert it with qemu-img convert -O qcow2`);

/**
 * Checks that a vmdk file is self-contained, because other vmdk files can reference any file on the host.
 *
 * @returns the size of the disk in bytes
 * @throws QemuError `IMAGE_REJECTED`
 */
export async function checkVmdk(header: Buffer, file: FileHandle): Promise<number> {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) throw createRejection('with its data in other files');
  const capacity = header.readBigUInt64LE(CAPACITY_OFFSET);
  const descriptorSector = header.readBigUInt64LE(DESCRIPTOR_OFFSET);
  const sectors = header.readBigUInt64LE(DESCRIPTOR_SECTORS_OFFSET);
  if (
    capacity === 0n ||
    descriptorSector === 0n ||
    sectors === 0n ||
    sectors > MAX_DESCRIPTOR_SECTORS ||
    descriptorSector > 2n ** 32n
  )
    throw createRejection('without a descriptor');
  const descriptor = Buffer.alloc(Number(sectors) * SECTOR_BYTES);
  await file.read(descriptor, 0, descriptor.length, Number(descriptorSector) * SECTOR_BYTES);
  const descriptorText = descriptor.toString('latin1');
  const [vmdkType = 'none', ...otherTypes] = [...descriptorText.matchAll(/^\s*createType\s*=\s*"([^"]*)"/gim)].map(
    ([, value]) => value,
  );
  if (!SELF_CONTAINED_TYPES.has(vmdkType) || otherTypes.length > 0)
    throw createRejection(`of the type ${vmdkType.slice(0, 40)}`);
  const parentIds = [...descriptorText.matchAll(/^\s*parentCID\s*=\s*(\S+)/gim)].map(([, value]) =>
    value?.toLowerCase(),
  );
  if (parentIds.some((parent) => parent !== NO_PARENT_ID)) throw createRejection('with a parent');
  return Number(capacity) * SECTOR_BYTES;
}
