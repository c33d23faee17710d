export {
  type ComputeRouter,
  type ComputeRouterOptions,
  computeRouter,
  MAX_VERSION,
  MIN_VERSION,
} from './compute-router.js';
export * from './identity/index.js';
export { operations } from './operations/index.js';
export * from './policy/index.js';
