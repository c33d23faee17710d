export { Described, described } from './described.js';
export { many, once, one, Query, QueryParameter, type QueryProblem, query } from './query.js';
export type { StandardIssue, StandardResult, StandardSchema } from './standard.js';
export {
  type AnySchema,
  type Check,
  derive,
  type Extra,
  type Infer,
  type InferShape,
  object,
  type Shape,
  schemaAt,
  Versioned,
  versioned,
} from './versioned.js';
