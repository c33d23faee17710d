import type { Operation } from '../router/operation.js';
import type { OperationShape } from './operation-shape.js';
import type { WindowNotes } from './window-notes.js';

/** An operation that exists at the version that the document describes. */
export interface DocumentedOperation {
  readonly operation: Operation;
  readonly shape: OperationShape;
  readonly notes: WindowNotes;
}

/** Documented operations with the same method and path. */
export type OperationGroup = readonly DocumentedOperation[];
