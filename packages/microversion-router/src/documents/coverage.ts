import { type Operation, windowsOfOperation } from '../router/operation.js';
import { nameOf, tagOf } from './names.js';

/** An entry in the list of operations that `coverage()` returns. */
export interface OperationEntry {
  readonly name: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly action: string | undefined;
  readonly windows: readonly { readonly since: string | undefined; readonly until: string | undefined }[];
  readonly summary: string;
  readonly policy: readonly string[];
}

/** Returns all operations with the version ranges in which they exist. */
export function coverage(operations: readonly Operation[]): readonly OperationEntry[] {
  return operations.map((operation) => ({
    name: nameOf(operation),
    tag: tagOf(operation),
    method: operation.method,
    path: operation.path,
    action: operation.action,
    windows: windowsOfOperation(operation).map(({ since, until }) => ({ since: since?.text, until: until?.text })),
    summary: operation.summary,
    policy: [operation.policy ?? []].flat(),
  }));
}
