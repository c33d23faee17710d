import { compilePattern } from '@apistrata/compute-engine/api';

/**
 * A client's regular expression, matched in linear time, so that no rule can block the process. Rules that are added in
 * this process contain a `RegExp` instead.
 */
export class LinearPattern {
  readonly source: string;
  readonly flags: string;
  readonly test: (text: string) => boolean;

  /** @throws SyntaxError for lookaround and backreferences, and for very large patterns */
  constructor(source: string, flags: string) {
    this.source = source;
    this.flags = flags;
    // The matcher always uses Unicode, so it does not accept the flag `u`.
    const matcherFlags = flags.replace('u', '');
    const matchPattern = compilePattern(matcherFlags === '' ? source : `(?${matcherFlags})${source}`);
    if (!matchPattern)
      throw new SyntaxError(
        `Invalid regular expression /${source}/${flags}: use RE2 syntax, without lookaround and backreferences`,
      );
    this.test = matchPattern;
  }

  /** Returns the pattern in rule notation: `/source/flags`. */
  toJSON(): string {
    return `/${this.source}/${this.flags}`;
  }
}
