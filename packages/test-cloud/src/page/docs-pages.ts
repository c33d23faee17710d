import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  MAX_VERSION,
  MIN_VERSION,
  operations,
} from '@apistrata/compute-router';
import type { ExplorerHandler, OfferedToken } from '@apistrata/explorer';
import type { RequestHandler } from 'express';
import type { Directory } from '../identity/directory.js';

/**
 * The explorer of the compute API, loaded and made for the first who asks: few tests look at it. Visitors may try operations as the
 * users that are there from the start, with tokens that are renewed when a reset has ended them.
 */
export function docsPages(directory: Directory, maxVersion: string = MAX_VERSION): RequestHandler {
  let pages: ExplorerHandler | undefined;
  let tokens: readonly OfferedToken[] = [];
  return async function lazyPages(req, res, next) {
    const { explorer } = await import('@apistrata/explorer');
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
