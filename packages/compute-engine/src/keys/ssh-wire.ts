/**
 * Returns the fields of an SSH public key blob (RFC 4253, section 6.6), each prefixed with its length; undefined if the
 * blob is truncated.
 */
export function readSshFields(blob: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = [];
  let offset = 0;
  while (offset < blob.length) {
    if (offset + 4 > blob.length) return undefined;
    const end = offset + 4 + blob.readUInt32BE(offset);
    if (end > blob.length) return undefined;
    fields.push(blob.subarray(offset + 4, end));
    offset = end;
  }
  return fields;
}

/** Returns an SSH public key blob with the given fields. */
export function writeSshFields(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(field.length);
      return [length, field];
    }),
  );
}

/**
 * Encodes a positive integer, big-endian, with a leading zero byte if the first bit would otherwise be read as the
 * sign.
 */
export function encodeSshInteger(bytes: Uint8Array): Buffer {
  const [first = 0] = bytes;
  return Buffer.concat([first >= 0x80 ? Buffer.of(0) : Buffer.of(), bytes]);
}
