import type { Operation } from '@apistrata/microversion/router';
import { commonFields, commonParameters } from './common-fields.js';
import type { Tag } from './tags.js';

type Texts = Readonly<Record<string, string>>;

/** The documentation that the operations on one kind of resource have in common. */
export interface Resource<Parameters extends Texts = Texts> extends Pick<Operation, 'when' | 'describePart'> {
  readonly tag: Tag;
  readonly parameters: typeof commonParameters & Parameters;
  readonly fields?: Texts;
}

interface ResourceTexts<Parameters extends Texts> {
  readonly tag: Tag;
  /** Path parameters, by name. */
  readonly parameters?: Parameters;
  /** Causes of errors by status, for all operations that do not define their own. */
  readonly when?: Readonly<Record<number, string>>;
  /**
   * Fields that are not described where they are defined, by an unambiguous end of their dotted names without `[]`; query
   * parameters as `query.x`.
   */
  readonly fields?: Texts;
}

/** Returns the entry for the longest matching end of a field's name. Items and values without a name have no entry. */
function lookUp(table: Texts, part: string): string | undefined {
  if (part.endsWith('[]') || part.endsWith('.*')) return undefined;
  let rest = part.replaceAll('[]', '');
  for (;;) {
    if (Object.hasOwn(table, rest)) return table[rest];
    const dot = rest.indexOf('.');
    // A filter on a field is not the field: only full names of query parameters match.
    if (dot < 0 || rest.startsWith('query.')) return undefined;
    rest = rest.slice(dot + 1);
  }
}

/** Defines what operations on one kind of resource have in common. Fields are looked up when documents are generated. */
export function resource<const Parameters extends Texts = Record<never, string>>({
  tag,
  parameters,
  when,
  fields,
}: ResourceTexts<Parameters>): Resource<Parameters> {
  return {
    tag,
    parameters: { ...commonParameters, ...parameters } as typeof commonParameters & Parameters,
    fields,
    when,
    describePart: fields && ((part) => lookUp(fields, part) ?? lookUp(commonFields, part)),
  };
}
