import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  MAX_VERSION,
  MIN_VERSION,
  operations,
} from '@apistrata/compute-router';
import { type ExplorerHandler, explorer, type OfferedToken } from '@apistrata/explorer';
import type { Directory } from '../identity/directory.js';

/**
 * The explorer of the compute API, made for the first who asks: few tests look at it. Visitors may try operations as the
 * users that are there from the start, with tokens that are renewed when a reset has ended them.
 */
export function docsPages(directory: Directory, maxVersion: string = MAX_VERSION): ExplorerHandler {
  let pages: ExplorerHandler | undefined;
  let tokens: readonly OfferedToken[] = [];
  return function lazyPages(req, res, next) {
    if (!pages || !tokens.every(({ token }) => directory.token(token))) {
      tokens = [
        { label: 'demo, a member of demo', token: directory.lastingToken('demo', 'demo', ['member', 'reader']) },
        { label: 'admin, in demo', token: directory.lastingToken('admin', 'demo', ['admin']) },
      ];
      pages = explorer({
        operations,
        min: MIN_VERSION,
        max: maxVersion,
        server: '/compute/v2.1',
        description: computeApiDescription,
        history: computeApiHistory,
        commands: computeApiCommands,
        tokens,
      });
    }
    pages(req, res, next);
  };
}
