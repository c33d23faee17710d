// @ts-expect-error: scripts have no types
import { fetchPackage } from '../scripts/tools.mjs';

/**
 * Fetches a package (`name@version`) of the registry that only one test needs, once for each checkout.
 * @returns the folder of its node_modules; an empty string if the registry cannot be reached
 */
export function registryPackage(spec: string): Promise<string> {
  return fetchPackage(spec).catch(() => '');
}
