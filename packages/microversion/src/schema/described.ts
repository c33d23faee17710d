/** A field, query parameter or part of a response, with a description for generated documents. Created by {@link described}. */
export class Described<T> {
  /** Never set; makes the type nominal, so that the compiler compares only its type parameter. */
  declare private readonly nominal: never;
  readonly description: string;
  readonly value: T;

  constructor(description: string, value: T) {
    this.description = description;
    this.value = value;
  }
}

/**
 * Adds a description to a field of `object()`, a parameter of `query()`, a field of a view or a part of a reply, for generated
 * documents. The description is not processed until a document is generated or the schema is first used.
 *
 * @param description plain text
 *
 * @example
 * ```ts
 * import { since } from '@apistrata/microversion';
 * import { described, object } from '@apistrata/microversion/schema';
 * import { z } from 'zod';
 *
 * const todo = object({
 *   text: described('Text of the item.', z.string()),
 *   color: since('1.5', described('Color of the item. Default: none.', z.string().optional())),
 * });
 * ```
 */
export function described<const T>(description: string, value: T): Described<T> {
  return new Described(description, value);
}

/** Returns the value that a description wraps, or the value itself if it does not have a description. */
export function withoutDescription<T>(value: T | Described<T>): T {
  return value instanceof Described ? value.value : value;
}
