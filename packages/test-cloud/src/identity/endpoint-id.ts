import { createHash } from 'node:crypto';

/** The id of a service or an endpoint: it follows from what it is. */
export function stableEndpointId(type: string, part: string): string {
  return createHash('md5').update(`endpoint/${type}/${part}`).digest('hex');
}
