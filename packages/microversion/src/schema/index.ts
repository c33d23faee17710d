export { Described, described, withoutDescription } from './described.js';
export { many, once, one, Query, QueryParameter, type QueryProblem, query } from './query.js';
export { jsonSchemaOfAdapted, type StandardIssue, type StandardResult, type StandardSchema } from './standard.js';
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
