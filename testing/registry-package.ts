// @ts-expect-error: scripts have no types
import { fetchPackage } from '../scripts/tools.mjs';

/** Matches the errors of npm, or of starting npm, that mean that the registry cannot be reached. */
const UNREACHABLE = /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT/;

/**
 * Fetches a package (`name@version`, or several separated by spaces) that only one test needs from the registry, once
 * for each checkout.
 * @returns the folder of its node_modules; an empty string if the registry cannot be reached
 */
export async function registryPackage(spec: string): Promise<string> {
  try {
    return await fetchPackage(spec);
  } catch (error) {
    const { message, output = '' } = error as { message: string; output?: string };
    if (UNREACHABLE.test(message + output)) return '';
    throw error;
  }
}
