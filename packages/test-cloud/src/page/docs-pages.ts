import { MAX_VERSION, MIN_VERSION, operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import type { ExplorerHandler, OfferedToken } from '@apistrata/explorer';
import type { RequestHandler } from 'express';
import type { DemoDirectory } from '../identity/demo-directory.js';

/**
 * Returns the handler for the compute API's explorer, which is loaded on the first request because few tests use it.
 * Visitors can send requests as the initial users, with tokens that are renewed after a reset.
 */
export function docsPages(directory: DemoDirectory, maxVersion: string = MAX_VERSION): RequestHandler {
  let loadedPages: ExplorerHandler | undefined;
  let tokens: readonly OfferedToken[] = [];
  return async function lazyPages(req, res, next) {
    const { explorer } = await import('@apistrata/explorer');
    if (!loadedPages || !tokens.every(({ token }) => directory.token(token))) {
      tokens = [
        {
          label: 'demo, a member of the project demo',
          token: directory.issueLastingToken('demo', 'demo', ['member', 'reader']),
        },
        { label: 'admin, in the project demo', token: directory.issueLastingToken('admin', 'demo', ['admin']) },
      ];
      loadedPages = explorer({
        operations,
        min: MIN_VERSION,
        max: maxVersion,
        server: '/compute/v2.1',
        ...computeApiReference,
        authentication: {
          text: 'Use one of the offered tokens, or log in: user `admin` or `demo`, project `demo`, password `secret`.',
          identityUrl: '/identity/v3',
        },
        tokens,
      });
    }
    loadedPages(req, res, next);
  };
}
