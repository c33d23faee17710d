import { createHash, randomUUID } from 'node:crypto';

/** Returns 32 hexadecimal digits, the form of ids in the identity service. */
export const newId = (): string => randomUUID().replaceAll('-', '');

/** Returns an id derived from a name, so that scripts can rely on it in every cloud. */
export function stableId(kind: string, name: string): string {
  return createHash('md5').update(`${kind}/${name}`).digest('hex');
}

/** Returns the UUID of a record that is derived from other records. */
export function stableUuid(kind: string, name: string): string {
  const hex = stableId(kind, name);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-3${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
