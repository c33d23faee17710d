import { createHash, randomUUID } from 'node:crypto';

/** 32 hexadecimal digits, as identity services number things. */
export const newId = (): string => randomUUID().replaceAll('-', '');

/** An id that follows from the name, so that scripts can hold on to it across clouds. */
export function stableId(kind: string, name: string): string {
  return createHash('md5').update(`${kind}/${name}`).digest('hex');
}
