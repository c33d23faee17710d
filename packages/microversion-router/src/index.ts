export * from './documents/index.js';
export { errorBoundary, type Fault, type OnError } from './router/error-boundary.js';
export type { RouterErrorsOption } from './router/error-sender.js';
export * from './router/errors.js';
export type { RouterObserver, ServedRequest, Stage } from './router/observer.js';
export {
  existsAt,
  type Method,
  type Operation,
  type OperationSpec,
  operationsOf,
  type Routed,
  windowsOfOperation,
} from './router/operation.js';
export { PreparedResponse, prepareResponse } from './router/prepared-response.js';
export { Reply } from './router/reply.js';
export type { ReplyShape, ReplyValue } from './router/reply-shape.js';
export { createRouter, type RoutedCall, type RouterOptions } from './router/router.js';
export { type OperationTypes, type TypedOperation, typedOperationsOf } from './router/typed-operation.js';
export {
  field,
  nested,
  nestedList,
  View,
  ViewField,
  type ViewOptions,
  type ViewShape,
  view,
  viewOf,
} from './router/view.js';
