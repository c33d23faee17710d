export type { ApiDescription } from './api-description.js';
export { changesBetween, type OperationChange, type PartChange } from './changes.js';
export { coverage, type OperationEntry } from './coverage.js';
export { type Example, type ExampleOf, exampleAt } from './examples.js';
export { nameOf, operationKey, tagOf } from './names.js';
export { type OpenApiDocuments, type OpenApiOptions, openApi, openApiDocuments } from './openapi.js';
export {
  breakpointsOfOperation,
  describedOperation,
  type Json,
  type OperationShape,
  type OperationSummary,
  operationShape,
  type Part,
  parentPart,
} from './operation-shape.js';
export { problemDocument } from './problem-document.js';
