const CLUSTER_BITS = 9;
const CLUSTER_BYTES = 1 << CLUSTER_BITS;

/** The virtual size in bytes of the disk that {@link tinyDisk} returns. */
export const TINY_DISK_BYTES = 2 ** 20;

/**
 * Returns an empty disk of 1 MiB as a valid QCOW2 file of four clusters: header, reference count table, reference count
 * block, and first-level table.
 */
export function tinyDisk(): Uint8Array {
  const file = Buffer.alloc(4 * CLUSTER_BYTES);
  const entriesPerTable = CLUSTER_BYTES / 8;
  file.write('QFI\xfb', 0, 'latin1');
  file.writeUInt32BE(2, 4);
  file.writeUInt32BE(CLUSTER_BITS, 20);
  file.writeBigUInt64BE(BigInt(TINY_DISK_BYTES), 24);
  file.writeUInt32BE(TINY_DISK_BYTES / (CLUSTER_BYTES * entriesPerTable), 36);
  file.writeBigUInt64BE(BigInt(3 * CLUSTER_BYTES), 40);
  file.writeBigUInt64BE(BigInt(CLUSTER_BYTES), 48);
  file.writeUInt32BE(1, 56);
  file.writeBigUInt64BE(BigInt(2 * CLUSTER_BYTES), CLUSTER_BYTES);
  for (let cluster = 0; cluster < 4; cluster++) file.writeUInt16BE(1, 2 * CLUSTER_BYTES + 2 * cluster);
  return file;
}
