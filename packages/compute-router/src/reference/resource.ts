import type { Operation } from '@apistrata/microversion-router';
import { commonParameters } from './common-parameters.js';
import type { Tag } from './tags.js';

type Texts = Readonly<Record<string, string>>;

/** Documentation that all operations on one kind of resource share. */
export interface Resource<Parameters extends Texts = Texts> extends Pick<Operation, 'when'> {
  readonly tag: Tag;
  readonly parameters: typeof commonParameters & Parameters;
}

interface ResourceTexts<Parameters extends Texts> {
  readonly tag: Tag;
  /** Descriptions of path parameters, by name. */
  readonly parameters?: Parameters;
  /** Descriptions of errors by HTTP status, for operations that do not define their own. */
  readonly when?: Readonly<Record<number, string>>;
}

/** Defines documentation that all operations on one kind of resource share. */
export function resource<const Parameters extends Texts = Record<never, string>>({
  parameters,
  ...rest
}: ResourceTexts<Parameters>): Resource<Parameters> {
  return { ...rest, parameters: { ...commonParameters, ...parameters } as typeof commonParameters & Parameters };
}
