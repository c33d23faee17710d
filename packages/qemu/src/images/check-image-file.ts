import { open } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';

/** `QFI` and a byte: how qcow2 files begin. */
const QCOW2_MAGIC = 0x5146_49fb;
const HEADER_BYTES = 104;
const BACKING_OFFSET_AT = 8;
const SIZE_AT = 24;
const INCOMPATIBLE_FEATURES_AT = 72;
/** The guest's bytes are in another file, which the header names. */
const EXTERNAL_DATA = 1n << 2n;

export type ImageFileFormat = 'raw' | 'qcow2';

/** What image services call formats, as what they are here; the images of kernels and of their disks are raw. */
const FORMATS: Readonly<Record<string, ImageFileFormat>> = {
  raw: 'raw',
  qcow2: 'qcow2',
  ami: 'raw',
  aki: 'raw',
  ari: 'raw',
  iso: 'raw',
};

/** Throws `IMAGE_REFUSED` for formats that are not read here. */
export function imageFileFormat(diskFormat: string | null): ImageFileFormat {
  const format = FORMATS[diskFormat ?? ''];
  if (!format)
    throw new QemuError(
      'IMAGE_REFUSED',
      `images of format ${diskFormat ?? 'none'} cannot be used here: raw and qcow2 can`,
    );
  return format;
}

/**
 * Reads how large a disk is in an image file that somebody has uploaded, before any program opens it. A qcow2 file may name
 * other files, which programs would open as its parts: files of this host.
 *
 * @returns the size of the disk in bytes
 * @throws `IMAGE_REFUSED` for a file that leans on others, and one that is not what it says
 */
export async function checkImageFile(path: string, format: ImageFileFormat): Promise<number> {
  const file = await open(path, 'r');
  try {
    if (format === 'raw') return (await file.stat()).size;
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    const version = header.readUInt32BE(4);
    if (bytesRead < HEADER_BYTES || header.readUInt32BE(0) !== QCOW2_MAGIC || version < 2 || version > 3)
      throw new QemuError('IMAGE_REFUSED', 'the image is said to be qcow2, and is not');
    if (header.readBigUInt64BE(BACKING_OFFSET_AT) !== 0n)
      throw new QemuError('IMAGE_REFUSED', 'the image has a backing file: only images that are whole can be used');
    if (version === 3 && (header.readBigUInt64BE(INCOMPATIBLE_FEATURES_AT) & EXTERNAL_DATA) !== 0n)
      throw new QemuError(
        'IMAGE_REFUSED',
        'the image has its data in another file: only images that are whole can be used',
      );
    return Number(header.readBigUInt64BE(SIZE_AT));
  } finally {
    await file.close();
  }
}
