export * from '../documents/index.js';
export { MicroversionError, type MicroversionErrorCode, RequestError } from '../errors.js';
export { checkJsonText, checkJsonValue, defaultJsonLimits, type JsonLimits } from '../json-limits.js';
export { errorBoundary, type Fault, type OnError } from './error-boundary.js';
export * from './errors.js';
export type { RouterObserver, ServedRequest, Stage } from './observer.js';
export {
  existsAt,
  type Method,
  type Operation,
  type OperationSpec,
  operationsOf,
  type Routed,
  windowsOfOperation,
} from './operation.js';
export { PreparedResponse, prepareResponse } from './prepared-response.js';
export { Reply } from './reply.js';
export type { ReplyShape, ReplyValue } from './reply-shape.js';
export { createRouter, type RoutedCall, type RouterOptions } from './router.js';
export { type OperationTypes, type TypedOperation, typedOperationsOf } from './typed-operation.js';
export { field, nested, nestedList, View, ViewField, type ViewOptions, type ViewShape, view, viewOf } from './view.js';
