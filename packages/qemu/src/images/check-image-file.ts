import { type FileHandle, open } from 'node:fs/promises';
import { imageFormatOf } from '@apistrata/compute-engine/catalogs';
import { QemuError } from '../qemu-error.js';
import { checkVmdk } from './check-vmdk.js';

/**
 * The number of bytes to read from the start of an image file to find disk signatures and headers. The signature of a
 * CD is beyond this limit, so a CD is treated as a raw disk.
 */
const HEADER_BYTES = 512;
const BACKING_FILE_OFFSET = 8;
const SIZE_OFFSET = 24;
const INCOMPATIBLE_FEATURES_OFFSET = 72;
/** The qcow2 feature bit of images whose data is stored in another file. */
const EXTERNAL_DATA_BIT = 1n << 2n;

export type ImageFileFormat = 'raw' | 'qcow2' | 'vmdk' | 'vhdx';

/** File formats by the image service's disk format; kernel and ramdisk images are raw. */
const FILE_FORMATS: Readonly<Record<string, ImageFileFormat>> = {
  raw: 'raw',
  qcow2: 'qcow2',
  vmdk: 'vmdk',
  vhdx: 'vhdx',
  ami: 'raw',
  aki: 'raw',
  ari: 'raw',
  iso: 'raw',
};

/** Returns the file format for an image service's disk format. @throws QemuError `IMAGE_REJECTED` for unsupported formats */
export function parseDiskFormat(diskFormat: string | null): ImageFileFormat {
  const format = FILE_FORMATS[diskFormat ?? ''];
  if (!format)
    throw new QemuError(
      'IMAGE_REJECTED',
      `unsupported image format ${diskFormat ?? 'none'}: use raw, qcow2, vmdk, vhdx or iso`,
    );
  return format;
}

/**
 * The checks after the signature check, by file format. Each returns the disk size; null if the header does not contain
 * it.
 */
const FORMAT_CHECKS: Readonly<Record<ImageFileFormat, (header: Buffer, file: FileHandle) => Promise<number | null>>> = {
  raw: async (_, file) => (await file.stat()).size,
  qcow2: async (header) => checkQcow2(header),
  vmdk: checkVmdk,
  // QEMU itself rejects vhdx images that have a parent.
  vhdx: async () => null,
};

/**
 * Checks an uploaded image file before any other program opens it. In some formats, an image can reference other files,
 * and a program would then read those files on this host. A file whose format differs from the one that its image
 * declares is rejected, even if the image declares raw.
 *
 * @returns the size of the disk in bytes; null if only `qemu-img` can determine it
 * @throws QemuError `IMAGE_REJECTED` if the file references other files or is not in the declared format
 */
export async function checkImageFile(path: string, format: ImageFileFormat): Promise<number | null> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    await file.read(header, 0, HEADER_BYTES, 0);
    const actualFormat = imageFormatOf(header);
    if (actualFormat !== format)
      throw new QemuError(
        'IMAGE_REJECTED',
        actualFormat === 'raw'
          ? `the image declares ${format}, but its content is in another format: upload it again with the actual disk_format`
          : `the image declares ${format}, but its content is ${actualFormat}: upload it again as ${actualFormat}`,
      );
    return await FORMAT_CHECKS[format](header, file);
  } finally {
    await file.close();
  }
}

function checkQcow2(header: Buffer): number {
  const version = header.readUInt32BE(4);
  if (version < 2 || version > 3)
    throw new QemuError('IMAGE_REJECTED', `the image has the unsupported qcow2 version ${version}: use version 2 or 3`);
  if (header.readBigUInt64BE(BACKING_FILE_OFFSET) !== 0n)
    throw new QemuError('IMAGE_REJECTED', 'the image has a backing file: only self-contained images are supported');
  if (version === 3 && (header.readBigUInt64BE(INCOMPATIBLE_FEATURES_OFFSET) & EXTERNAL_DATA_BIT) !== 0n)
    throw new QemuError(
      'IMAGE_REJECTED',
      'the image has an external data file: only self-contained images are supported',
    );
  return Number(header.readBigUInt64BE(SIZE_OFFSET));
}
