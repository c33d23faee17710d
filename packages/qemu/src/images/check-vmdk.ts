import type { FileHandle } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';

const SECTOR_BYTES = 512;
const MAGIC = 'KDMV';
const CAPACITY_AT = 12;
const DESCRIPTOR_AT = 28;
const DESCRIPTOR_SECTORS_AT = 36;
const MAX_DESCRIPTOR_SECTORS = 128n;

/** The vmdk types that consist of a single file. */
const SELF_CONTAINED: ReadonlySet<string> = new Set(['monolithicSparse', 'streamOptimized']);
const NO_PARENT = 'ffffffff';

const rejected = (reason: string) =>
  new QemuError('IMAGE_REJECTED', `the image is a vmdk file ${reason}: convert it with qemu-img convert -O qcow2`);

/**
 * Checks that a vmdk file is self-contained, because other vmdk files can reference any file on the host.
 *
 * @returns the size of the disk in bytes
 * @throws QemuError `IMAGE_REJECTED`
 */
export async function checkVmdk(header: Buffer, file: FileHandle): Promise<number> {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) throw rejected('that only describes other files');
  const capacity = header.readBigUInt64LE(CAPACITY_AT);
  const at = header.readBigUInt64LE(DESCRIPTOR_AT);
  const sectors = header.readBigUInt64LE(DESCRIPTOR_SECTORS_AT);
  if (capacity === 0n || at === 0n || sectors === 0n || sectors > MAX_DESCRIPTOR_SECTORS || at > 2n ** 32n)
    throw rejected('without a descriptor');
  const descriptor = Buffer.alloc(Number(sectors) * SECTOR_BYTES);
  await file.read(descriptor, 0, descriptor.length, Number(at) * SECTOR_BYTES);
  const text = descriptor.toString('latin1');
  const [kind = 'none', ...others] = [...text.matchAll(/^\s*createType\s*=\s*"([^"]*)"/gim)].map(([, value]) => value);
  if (!SELF_CONTAINED.has(kind) || others.length > 0) throw rejected(`of the type ${kind.slice(0, 40)}`);
  const parents = [...text.matchAll(/^\s*parentCID\s*=\s*(\S+)/gim)].map(([, value]) => value?.toLowerCase());
  if (parents.some((parent) => parent !== NO_PARENT)) throw rejected('with a parent');
  return Number(capacity) * SECTOR_BYTES;
}
