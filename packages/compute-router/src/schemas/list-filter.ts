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

/** A filter or sort key of server lists. */
export interface ListFilter {
  /** The query parameter, with the versions in which it exists. */
  readonly schema?: Windowed<QueryParameter<any> | Described<QueryParameter<any>>>;
  /** Whether all callers can use it. Otherwise it is ignored unless the policy allows all filters. */
  readonly forEveryone?: Windowed<true>;
  /** The engine filter for a pattern, a string or a list. If several parameters map to one filter, the first one applies. */
  readonly pattern?: ServerPatternField;
  readonly text?: FilterOf<string>;
  readonly list?: FilterOf<readonly string[]>;
  /** The sort key of the engine, or null if the key is accepted and ignored. */
  readonly sorts?: Windowed<ServerSortKey | null>;
  /** Refers to an internal record: rejected for callers that can use all filters, ignored for all others. */
  readonly internal?: true;
}

export const text = one(z.string());

/** A regular expression that is not empty and matches in linear time. */
export const pattern = one(
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
 * Defines a filter that all callers can use from a version on. In earlier versions, only callers whom the policy allows
 * to use all filters can use it.
 */
export function forEveryoneSince<P extends QueryParameter<any>>(first: string, text: string, schema: P) {
  const { major, minor } = Version.of(first);
  const history = `Administrators only until ${major}.${Number(minor) - 1}; all callers since ${first}.`;
  return { forEveryone: since(first, true), schema: described(`${text} ${history}`, schema) } as const;
}

/** Defines a filter that exists since a version. */
export function addedIn<P extends QueryParameter<any>>(first: string, description: string, schema: P) {
  return { forEveryone: true, schema: since(first, described(description, schema)) } as const;
}
