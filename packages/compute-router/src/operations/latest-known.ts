import type { Version } from '@apistrata/microversion';
import { breakpointsOfOperation } from '@apistrata/microversion/router';
import { operations } from './index.js';

let latest: Version | undefined;

/** The last version at which anything changes, and so the highest `maxVersion`: the last edge of any operation. */
export function latestKnown(): Version {
  latest ??= operations
    .flatMap((operation) => breakpointsOfOperation(operation))
    .reduce((last, edge) => (edge.compare(last) > 0 ? edge : last));
  return latest;
}
