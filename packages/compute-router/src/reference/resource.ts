/** Name and description of an operation, and causes of its errors by status where the status alone is not specific. */
export type OperationDocs = readonly [name: string, description: string, when?: { readonly [status: number]: string }];

/** Reference documentation of the operations on one kind of resource. */
export interface Resource {
  readonly tag: string;
  /** Description of the tag. */
  readonly about: string;
  /** By method, path and action. */
  readonly operations: Readonly<Record<string, OperationDocs>>;
  /** Path parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Fields, by an unambiguous end of their dotted names without `[]`; query parameters as `query.x`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Causes of errors by status, for all operations of the tag that do not define their own. */
  readonly when?: Readonly<Record<number, string>>;
}
