/** The number of bytes at the start of a disk image that contain the signatures of all recognized formats. */
export const IMAGE_HEADER_BYTES = 32_774;

/** The disk image signatures: format name, offset in bytes, and signature bytes. */
const SIGNATURES: readonly (readonly [string, number, Buffer])[] = [
  ['qcow2', 0, Buffer.from('QFI\xfb', 'latin1')],
  ['vmdk', 0, Buffer.from('KDMV')],
  ['vmdk', 0, Buffer.from('# Disk DescriptorFile')],
  ['vhdx', 0, Buffer.from('vhdxfile')],
  ['vhd', 0, Buffer.from('conectix')],
  ['qed', 0, Buffer.from('QED\0')],
  ['luks', 0, Buffer.from('LUKS\xba\xbe', 'latin1')],
  ['vdi', 64, Buffer.from([0x7f, 0x10, 0xda, 0xbe])],
  // The first ISO 9660 volume descriptor. Hybrid images, which also have a partition table, are detected as ISO images.
  ['iso', 32_769, Buffer.from('CD001')],
];

/**
 * Detects the format of a disk image from the signature in its first {@link IMAGE_HEADER_BYTES} bytes: `qcow2`, `vmdk`,
 * `vhdx`, `vhd`, `qed`, `luks`, `vdi` or `iso`. Returns `raw` for a file without a known signature. With fewer bytes,
 * fewer formats are recognized.
 */
export function imageFormatOf(header: Uint8Array): string {
  const matchingSignature = SIGNATURES.find(([, at, bytes]) => bytes.equals(header.subarray(at, at + bytes.length)));
  return matchingSignature?.[0] ?? 'raw';
}
