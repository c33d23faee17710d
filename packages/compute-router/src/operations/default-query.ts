import type { Operation } from '@apistrata/microversion/router';
import { query } from '@apistrata/microversion/schema';
import { refusedFrom2102 } from '../schemas/extra-parameters.js';

const noParameters = query({}, { extra: refusedFrom2102 });

/** The operation as it is; a GET that declares no query has no parameters, and from 2.102 says so to whoever sends one. */
export function withDefaultQuery(operation: Operation): Operation {
  return operation.method !== 'GET' || operation.query ? operation : { ...operation, query: noParameters };
}
