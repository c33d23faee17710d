import {
  compilePattern,
  type ServerFilters,
  type ServerPatternField,
  type ServerSortKey,
} from '@apistrata/compute-engine/api';
import { since, Version, type Windowed } from '@apistrata/microversion';
import { type Described, described, one, type QueryParameter } from '@apistrata/microversion/schema';
import { z } from 'zod';

type FilterOf<T> = { [K in keyof ServerFilters]-?: T extends ServerFilters[K] ? K : never }[keyof ServerFilters];

/** A filter or sort key for server lists. */
export interface ListFilter {
  /** Schema of the query parameter, with the versions in which the parameter exists. */
  readonly schema?: Windowed<QueryParameter<any> | Described<QueryParameter<any>>>;
  /**
   * Whether all callers can use the filter. Otherwise, it is ignored unless the policy allows the caller to use all
   * filters.
   */
  readonly forEveryone?: Windowed<true>;
  /**
   * The engine's filter, which matches a pattern, a string or a list. If several parameters have the same filter, the
   * first one applies.
   */
  readonly pattern?: ServerPatternField;
  readonly text?: FilterOf<string>;
  readonly list?: FilterOf<readonly string[]>;
  /** The engine's sort key, or null if the API accepts the key but ignores it. */
  readonly sorts?: Windowed<ServerSortKey | null>;
  /**
   * Whether the filter refers to internal data. It is rejected if the caller can use all filters, and ignored
   * otherwise.
   */
  readonly internal?: true;
}

export const textSchema = one(z.string());

/** Schema for a regular expression that is not empty and can be matched in linear time. */
export const patternSchema = one(
  z
    .string()
    .min(1)
    .refine((given) => compilePattern(given) !== undefined, {
      message: 'The string is not a valid regular expression',
    }),
);

/** Defines a filter that all callers can use. */
export const forEveryone = <P extends QueryParameter<any>>(description: string, schema: P) =>
  ({ forEveryone: true, schema: described(description, schema) }) as const;

/** Defines a filter for callers to whom the policy allows all filters. */
export const adminOnly = <P extends QueryParameter<any>>(text: string, schema: P) => ({
  schema: described(`${text} Administrators only; ignored for other callers.`, schema),
});

/**
 * Defines a filter that all callers can use since a version. At earlier versions, the policy must allow the caller to
 * use all filters.
 */
export function forEveryoneSince<P extends QueryParameter<any>>(first: string, text: string, schema: P) {
  const { major, minor } = Version.of(first);
  const history = `Until ${major}.${Number(minor) - 1}, administrators only; since ${first}, all callers.`;
  return { forEveryone: since(first, true), schema: described(`${text} ${history}`, schema) } as const;
}

/** Defines a filter that was added at a version. */
export function addedIn<P extends QueryParameter<any>>(first: string, description: string, schema: P) {
  return { forEveryone: true, schema: since(first, described(description, schema)) } as const;
}
