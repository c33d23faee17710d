import { createHash, randomUUID } from 'node:crypto';

/** Returns a new ID in Keystone's format: 32 hexadecimal digits. */
export const newId = (): string => randomUUID().replaceAll('-', '');

/** Returns an ID that is derived from a name. The ID is the same in every cloud, so that scripts can rely on it. */
export function stableId(kind: string, name: string): string {
  return createHash('md5').update(`${kind}/${name}`).digest('hex');
}

/** Returns a UUID that is derived from a name, for records that are derived from other records. */
export function stableUuid(kind: string, name: string): string {
  const hex = stableId(kind, name);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-3${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
