import type { IncomingMessage } from 'node:http';
import { microversionOf } from '@apistrata/microversion';
import type { Call } from '../service/call.js';

export const MIN_VERSION = '1.0';
export const MAX_VERSION = '1.39';

/** Returns whether a request selects this minor version of the placement API or a later one. */
export const isRequestAtLeast = (req: IncomingMessage, minor: number): boolean =>
  Number(microversionOf(req)?.minor ?? -1) >= minor;

/** Returns whether a call selects this minor version of the placement API or a later one. */
export const isAtLeast = ({ req }: Call, minor: number): boolean => isRequestAtLeast(req, minor);
