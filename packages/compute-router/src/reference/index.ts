/** The compute API's documentation. It has a separate entry point, because it loads all of the engine's actions. */
export {
  type ComputeApiReference,
  type ComputeOperationFacts,
  type ComputeSampleRequest,
  computeApiReference,
} from './compute-api-reference.js';
