import type { Operation } from '@apistrata/microversion/router';
import { query } from '@apistrata/microversion/schema';
import { rejectedSince2102 } from '../schemas/extra-parameters.js';

const noParameters = query({}, { extra: rejectedSince2102 });

/**
 * Returns the operation with a query. A GET that does not declare a query has no parameters, so that any parameter is
 * rejected since 2.102.
 */
export function withDefaultQuery(operation: Operation): Operation {
  return operation.method !== 'GET' || operation.query ? operation : { ...operation, query: noParameters };
}
