/** PostgreSQL's object identifiers for element types, which are the same in every installation. */
const ELEMENT_TYPE_IDS = { text: 25, bigint: 20, integer: 23 } as const;

type ElementType = keyof typeof ELEMENT_TYPE_IDS;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NUMBER_BYTES = { bigint: 8, integer: 4 } as const;
const NULL_VALUE_LENGTH = -1;

const hasBinaryForm = (type: string): type is ElementType => Object.hasOwn(ELEMENT_TYPE_IDS, type);

/**
 * Encodes values as a PostgreSQL array parameter. Strings and integers use the protocol's binary format, because the
 * text format escapes every quote in a string and is parsed character by character.
 *
 * @param type the element type, as PostgreSQL formats it
 * @param values strings or safe integers, depending on the type, or null
 * @returns the binary encoding; the unchanged values for other types and for an empty array
 */
export function arrayParameter(type: string, values: readonly unknown[]): Buffer | readonly unknown[] {
  if (!hasBinaryForm(type) || values.length === 0) return values;
  return type === 'text'
    ? encodeArray(type, values, (value) => Buffer.byteLength(value as string), writeText)
    : encodeArray(type, values, () => NUMBER_BYTES[type], type === 'bigint' ? writeBigint : writeInteger);
}

function encodeArray(
  type: ElementType,
  values: readonly unknown[],
  sizeOf: (value: unknown) => number,
  write: (buffer: Buffer, value: unknown, at: number) => void,
): Buffer {
  const sizes = values.map((value) => (value === null ? NULL_VALUE_LENGTH : sizeOf(value)));
  const totalBytes = sizes.reduce((sum, size) => sum + LENGTH_BYTES + Math.max(size, 0), HEADER_BYTES);
  const bytes = Buffer.allocUnsafe(totalBytes);
  // Array header: number of dimensions, whether it contains nulls, element type, length, index of the first element.
  const header = [1, sizes.includes(NULL_VALUE_LENGTH) ? 1 : 0, ELEMENT_TYPE_IDS[type], values.length, 1];
  for (const [index, field] of header.entries()) bytes.writeInt32BE(field, index * 4);
  let at = HEADER_BYTES;
  for (const [index, size] of sizes.entries()) {
    at = bytes.writeInt32BE(size, at);
    if (size === NULL_VALUE_LENGTH) continue;
    write(bytes, values[index], at);
    at += size;
  }
  return bytes;
}

function writeText(buffer: Buffer, value: unknown, at: number): void {
  buffer.write(value as string, at, 'utf8');
}

function writeInteger(buffer: Buffer, value: unknown, at: number): void {
  buffer.writeInt32BE(value as number, at);
}

/**
 * Writes a 64-bit integer in two halves, because converting a JavaScript number to a `bigint` requires an allocation.
 */
function writeBigint(buffer: Buffer, value: unknown, at: number): void {
  const highHalf = Math.floor((value as number) / 2 ** 32);
  buffer.writeInt32BE(highHalf, at);
  buffer.writeUInt32BE((value as number) - highHalf * 2 ** 32, at + 4);
}
