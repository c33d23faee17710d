import { createHash, randomUUID } from 'node:crypto';

/** Returns 32 hexadecimal digits, the form of ids in the identity service. */
export const newId = (): string => randomUUID().replaceAll('-', '');

/** Returns an id derived from a name, so that scripts can rely on it in every cloud. */
export function stableId(kind: string, name: string): string {
  return createHash('md5').update(`${kind}/${name}`).digest('hex');
}
