import type { Operation } from '@apistrata/microversion/router';
import { query } from '@apistrata/microversion/schema';
import { rejectedSince2102 } from '../schemas/extra-parameters.js';

const noParameters = query({}, { extra: rejectedSince2102 });

/**
 * Returns an operation in which a GET without a declared query has no parameters: since 2.102, unknown ones are
 * rejected.
 */
export function withDefaultQuery(operation: Operation): Operation {
  return operation.method !== 'GET' || operation.query ? operation : { ...operation, query: noParameters };
}
