import {
  compilePattern,
  type ServerFilters,
  type ServerPatternField,
  type ServerSortKey,
} from '@apistrata/compute-engine/api';
import { since, Version, type Windowed } from '@apistrata/microversion';
import { one, type QueryParameter } from '@apistrata/microversion/schema';
import { z } from 'zod';

type FilterOf<T> = { [K in keyof ServerFilters]-?: T extends ServerFilters[K] ? K : never }[keyof ServerFilters];

/** All there is to say of something that lists of servers can be filtered or sorted by. */
export interface ListFilter {
  /** The parameter, in the versions that have it. */
  readonly given?: Windowed<QueryParameter<any>>;
  /** Everybody may use it; else it is dropped without a word where the policy does not allow all filters. */
  readonly everybody?: Windowed<true>;
  /** What the engine holds the pattern against, the filter that the text is, or the list that its parts are. Of several parameters for one filter the first counts. */
  readonly pattern?: ServerPatternField;
  readonly text?: FilterOf<string>;
  readonly list?: FilterOf<readonly string[]>;
  /** The engine's name of the key to sort by; null where the key is accepted and passed over. */
  readonly sorts?: Windowed<ServerSortKey | null>;
  /** Would reach into internal records, and is refused to whom filters are not dropped. */
  readonly internal?: true;
  /** What it is, for the documents. */
  readonly words?: string;
}

export const text = one(z.string());

/** A regular expression that is worth running: not empty, and one that takes linear time. */
export const pattern = one(
  z
    .string()
    .min(1)
    .refine((given) => compilePattern(given) !== undefined, {
      message: 'The string is not a valid regular expression',
    }),
);

/** A filter for everybody. */
export const open = (words: string) => ({ everybody: true, words }) as const;

/** A filter for those whom the policy allows all of them. */
export const closed = (words: string) => ({
  words: `${words}; for administrators, others may give it, and it is left out of account`,
});

/** The same until everybody was allowed it. */
export function opened(first: string, words: string) {
  const { major, minor } = Version.of(first);
  const history = `For administrators up to ${major}.${Number(minor) - 1}, for everybody from ${first} on`;
  return { everybody: since(first, true), words: `${words}. ${history}` } as const;
}

/** A filter that there was not at first. */
export function added<P extends QueryParameter<any>>(first: string, given: P, words: string) {
  return { given: since(first, given), ...open(`${words}. New in ${first}`) } as const;
}
