import type { Version } from '@apistrata/microversion';
import { breakpointsOfOperation } from '@apistrata/microversion-router';
import { operations } from './index.js';

let latest: Version | undefined;

/** Returns the newest version at which any operation changes. It is the highest allowed `maxVersion`. */
export function newestSupported(): Version {
  latest ??= operations
    .flatMap((operation) => breakpointsOfOperation(operation))
    .reduce((last, breakpoint) => (breakpoint.compare(last) > 0 ? breakpoint : last));
  return latest;
}
