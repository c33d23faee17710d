import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  MAX_VERSION,
  MIN_VERSION,
  operations,
} from '@apistrata/compute-router';
import { type ExplorerHandler, explorer } from '@apistrata/explorer';

/** The explorer of the compute API, made for the first who asks: few tests look at it. */
export function docsPages(maxVersion: string = MAX_VERSION): ExplorerHandler {
  let pages: ExplorerHandler | undefined;
  return function lazyPages(req, res, next) {
    pages ??= explorer({
      operations,
      min: MIN_VERSION,
      max: maxVersion,
      server: '/compute/v2.1',
      description: computeApiDescription,
      history: computeApiHistory,
      commands: computeApiCommands,
    });
    pages(req, res, next);
  };
}
