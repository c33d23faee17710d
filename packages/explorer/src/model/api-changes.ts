import type { VersionLike } from '@apistrata/microversion';
import { changesBetween, type Operation, type OperationChange } from '@apistrata/microversion-router';
import { SHARED_SCHEMA_TAG } from '../documents/shared-schemas.js';

/**
 * Returns the changes between two versions. Added and removed shared schemas are omitted, because the operations that
 * use them list these changes.
 */
export function apiChanges(
  operations: readonly Operation[],
  from: VersionLike,
  to: VersionLike,
): readonly OperationChange[] {
  return changesBetween(operations, from, to).filter(
    ({ tag, change }) => tag !== SHARED_SCHEMA_TAG || change === 'changed',
  );
}
