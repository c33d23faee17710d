import { compilePattern } from '@apistrata/compute-engine/api';

/**
 * A pattern from a client, matched in linear time, so that no rule can block the process. Rules that programs add
 * contain a `RegExp` instead.
 */
export class LinearPattern {
  readonly source: string;
  readonly flags: string;
  readonly test: (text: string) => boolean;

  /** @throws SyntaxError for patterns with lookaround or backreferences, and for very large ones */
  constructor(source: string, flags: string) {
    this.source = source;
    this.flags = flags;
    // The matcher always uses Unicode.
    const matcherFlags = flags.replace('u', '');
    const test = compilePattern(matcherFlags === '' ? source : `(?${matcherFlags})${source}`);
    if (!test)
      throw new SyntaxError(
        `Invalid regular expression /${source}/${flags}: use the syntax of RE2, without lookaround and back references`,
      );
    this.test = test;
  }

  /** Returns the pattern as rules write it. */
  toJSON(): string {
    return `/${this.source}/${this.flags}`;
  }
}
