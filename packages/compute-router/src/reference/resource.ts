import type { Operation } from '@apistrata/microversion/router';
import { commonParameters } from './common-parameters.js';
import type { Tag } from './tags.js';

type Texts = Readonly<Record<string, string>>;

/** The documentation that the operations on one kind of resource have in common. */
export interface Resource<Parameters extends Texts = Texts> extends Pick<Operation, 'when'> {
  readonly tag: Tag;
  readonly parameters: typeof commonParameters & Parameters;
}

interface ResourceTexts<Parameters extends Texts> {
  readonly tag: Tag;
  /** Path parameters, by name. */
  readonly parameters?: Parameters;
  /** Causes of errors by status, for all operations that do not define their own. */
  readonly when?: Readonly<Record<number, string>>;
}

/** Defines the documentation that the operations on one kind of resource have in common. */
export function resource<const Parameters extends Texts = Record<never, string>>({
  parameters,
  ...rest
}: ResourceTexts<Parameters>): Resource<Parameters> {
  return { ...rest, parameters: { ...commonParameters, ...parameters } as typeof commonParameters & Parameters };
}
