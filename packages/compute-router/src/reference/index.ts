/** The compute API as documentation pages show it. A sub-path: it loads all actions of the engine. */
export {
  type ComputeApiReference,
  type ComputeOperationFacts,
  type ComputeSampleRequest,
  computeApiReference,
} from './compute-api-reference.js';
