import { type FileHandle, open } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import { checkVmdk } from './check-vmdk.js';

/** The part of a file in which every format that is recognised has its signature. */
const HEADER_BYTES = 512;
const BACKING_OFFSET_AT = 8;
const SIZE_AT = 24;
const INCOMPATIBLE_FEATURES_AT = 72;
/** The guest's bytes are in another file, which the header names. */
const EXTERNAL_DATA = 1n << 2n;

export type ImageFileFormat = 'raw' | 'qcow2' | 'vmdk' | 'vhdx';

/** What image services call formats, as what they are here; the images of kernels and of their disks are raw. */
const FORMATS: Readonly<Record<string, ImageFileFormat>> = {
  raw: 'raw',
  qcow2: 'qcow2',
  vmdk: 'vmdk',
  vhdx: 'vhdx',
  ami: 'raw',
  aki: 'raw',
  ari: 'raw',
  iso: 'raw',
};

/** Signatures of disk images: the name of the format, the offset and the bytes. */
const SIGNATURES: readonly (readonly [string, number, Buffer])[] = [
  ['qcow2', 0, Buffer.from('QFI\xfb', 'latin1')],
  ['vmdk', 0, Buffer.from('KDMV')],
  ['vmdk', 0, Buffer.from('# Disk DescriptorFile')],
  ['vhdx', 0, Buffer.from('vhdxfile')],
  ['vhd', 0, Buffer.from('conectix')],
  ['qed', 0, Buffer.from('QED\0')],
  ['luks', 0, Buffer.from('LUKS\xba\xbe', 'latin1')],
  ['vdi', 64, Buffer.from([0x7f, 0x10, 0xda, 0xbe])],
];

/** Throws `IMAGE_REFUSED` for formats that are not read here. */
export function imageFileFormat(diskFormat: string | null): ImageFileFormat {
  const format = FORMATS[diskFormat ?? ''];
  if (!format)
    throw new QemuError(
      'IMAGE_REFUSED',
      `images of format ${diskFormat ?? 'none'} cannot be used here: raw, qcow2, vmdk, vhdx and iso can`,
    );
  return format;
}

/** Returns the format that the first bytes of a file are in; `raw` for those without a signature. */
function formatOf(header: Buffer): string {
  const found = SIGNATURES.find(([, at, bytes]) => header.subarray(at, at + bytes.length).equals(bytes));
  return found?.[0] ?? 'raw';
}

/** How formats are checked beyond their signature; returns the size of the disk, null where its header does not tell. */
const CHECKS: Readonly<Record<ImageFileFormat, (header: Buffer, file: FileHandle) => Promise<number | null>>> = {
  raw: async (_, file) => (await file.stat()).size,
  qcow2: async (header) => checkQcow2(header),
  vmdk: checkVmdk,
  // QEMU itself refuses those that have a parent.
  vhdx: async () => null,
};

/**
 * Checks an image file that a user has uploaded, before any program opens it. Files of some formats may name other files, which
 * programs would open as their parts: files of this host. A file whose bytes are in another format than the image says is refused,
 * raw ones among them.
 *
 * @returns the size of the disk in bytes; null where only a program can tell
 * @throws QemuError `IMAGE_REFUSED` for a file that leans on others, and for one that is in another format
 */
export async function checkImageFile(path: string, format: ImageFileFormat): Promise<number | null> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    await file.read(header, 0, HEADER_BYTES, 0);
    const found = formatOf(header);
    if (found !== format)
      throw new QemuError(
        'IMAGE_REFUSED',
        found === 'raw'
          ? `the image is said to be ${format}, and its bytes are not: upload it again with the disk_format that it has`
          : `the image is said to be ${format}, and its bytes are ${found}: upload it again as ${found}`,
      );
    return await CHECKS[format](header, file);
  } finally {
    await file.close();
  }
}

function checkQcow2(header: Buffer): number {
  const version = header.readUInt32BE(4);
  if (version < 2 || version > 3)
    throw new QemuError('IMAGE_REFUSED', `the image is qcow2 of version ${version}: versions 2 and 3 can be used`);
  if (header.readBigUInt64BE(BACKING_OFFSET_AT) !== 0n)
    throw new QemuError('IMAGE_REFUSED', 'the image has a backing file: only images that are whole can be used');
  if (version === 3 && (header.readBigUInt64BE(INCOMPATIBLE_FEATURES_AT) & EXTERNAL_DATA) !== 0n)
    throw new QemuError(
      'IMAGE_REFUSED',
      'the image has its data in another file: only images that are whole can be used',
    );
  return Number(header.readBigUInt64BE(SIZE_AT));
}
