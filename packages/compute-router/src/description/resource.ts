/** Name of an operation, what it does, and when an error of it comes whose status alone does not say so. */
export type OperationDocs = readonly [name: string, description: string, when?: { readonly [status: number]: string }];

/** What the documents say of the operations on one kind of thing. */
export interface Resource {
  readonly tag: string;
  /** What the operations of this tag are about. */
  readonly about: string;
  /** By method, path and action. */
  readonly operations: Readonly<Record<string, OperationDocs>>;
  /** Parameters of the paths, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Fields by as much of the end of their dotted names as tells them apart, without `[]`; query parameters as `query.x`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** When an error of a status comes, for all operations that may answer it and have no words of their own. */
  readonly when?: Readonly<Record<number, string>>;
}
