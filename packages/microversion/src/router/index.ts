export { NotInVersion } from '../errors.js';
export { Answer, answer } from './answer.js';
export {
  changesBetween,
  coverage,
  type OpenApiOptions,
  type OperationChange,
  type OperationEntry,
  openApi,
} from './documents.js';
export * from './errors.js';
export { type Method, type Operation, type OperationSpec, operationsOf, type Routed } from './operation.js';
export { Reply, type ReplyShape, type ReplyValue } from './reply.js';
export { createRouter, type RoutedCall, type RouterOptions } from './router.js';
export { field, nested, nestedList, View, ViewField, type ViewOptions, type ViewShape, view } from './view.js';
