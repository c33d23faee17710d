// Writes reproducible tar archives: entries have no modification times and belong to root.
const BLOCK_BYTES = 512;

/** The entry types, as the tar header encodes them. */
const ENTRY_TYPES = { file: '0', link: '2', folder: '5' };

/** Splits a path into the header fields `prefix` (at most 155 bytes) and `name` (at most 100 bytes). */
function fieldsOf(path) {
  const bytes = Buffer.from(path);
  if (bytes.length <= 100) return { prefix: '', name: path };
  const at = bytes.indexOf('/', bytes.length - 101);
  if (at < 0 || at > 155) throw new Error(`${path} is too long for a tar archive`);
  return { prefix: bytes.toString('utf8', 0, at), name: bytes.toString('utf8', at + 1) };
}

function headerOf({ path, type, mode, target = '' }, size) {
  const header = Buffer.alloc(BLOCK_BYTES);
  const number = (value, at, length) => header.write(value.toString(8).padStart(length - 1, '0'), at);
  const { prefix, name } = fieldsOf(path);
  header.write(name, 0);
  number(mode, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(size, 124, 12);
  number(0, 136, 12);
  header.write(ENTRY_TYPES[type], 156);
  header.write(target, 157, 100);
  header.write('ustar\0' + '00', 257, 'latin1');
  header.write(prefix, 345);
  // The checksum is the sum of all bytes of the header, with spaces in the checksum field.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/**
 * Returns a tar archive (ustar).
 * @param entries objects `{ path, type, mode }`, with `content` for files and `target` for symbolic links
 */
export function tarOf(entries) {
  const blocks = entries.flatMap((entry) => {
    const content = entry.content ?? Buffer.alloc(0);
    const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
    return [headerOf(entry, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}
