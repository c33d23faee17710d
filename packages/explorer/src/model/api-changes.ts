import type { VersionLike } from '@apistrata/microversion';
import { changesBetween, type Operation, type OperationChange } from '@apistrata/microversion/router';
import { SHARED_SCHEMAS } from '../documents/shared-schemas.js';

/**
 * Returns the changes between two versions. A shared schema that is added or removed as a whole is not listed: the changes
 * of operations that use it are.
 */
export function apiChanges(
  operations: readonly Operation[],
  from: VersionLike,
  to: VersionLike,
): readonly OperationChange[] {
  return changesBetween(operations, from, to).filter(
    ({ tag, change }) => tag !== SHARED_SCHEMAS || change === 'changed',
  );
}
