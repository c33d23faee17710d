import { query } from '@apistrata/microversion/schema';
import type { Operation } from '@apistrata/microversion-router';
import { rejectedSince2102 } from '../schemas/extra-parameters.js';

const emptyQuery = query({}, { extra: rejectedSince2102 });

/**
 * Adds an empty query schema to a GET operation that does not declare one, so that versions since 2.102 reject all query
 * parameters.
 */
export function withDefaultQuery(operation: Operation): Operation {
  return operation.method !== 'GET' || operation.query ? operation : { ...operation, query: emptyQuery };
}
