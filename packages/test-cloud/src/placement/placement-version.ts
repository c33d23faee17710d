import { microversionOf } from '@apistrata/microversion';
import type { Call } from '../service/call.js';

export const MIN_VERSION = '1.0';
export const MAX_VERSION = '1.39';

/** Returns true if the request selects this version or a later one. */
export function since(call: Call, minor: number): boolean {
  return Number(microversionOf(call.req)?.minor ?? 0) >= minor;
}
