/** The documentation of the compute API. A separate entry point, because it loads all actions of the engine. */
export {
  type ComputeApiReference,
  type ComputeOperationFacts,
  type ComputeSampleRequest,
  computeApiReference,
} from './compute-api-reference.js';
