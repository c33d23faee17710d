import { compilePattern } from '@apistrata/compute-engine/api';

/**
 * A pattern that came over the wire, matched in time that is linear in the text: no rule of one client keeps the process from
 * serving the others. It stands where rules of programs have a `RegExp`.
 */
export class LinearPattern {
  readonly source: string;
  readonly flags: string;
  readonly test: (text: string) => boolean;

  /** @throws SyntaxError for patterns that cannot be matched so: look-arounds, back references, and huge ones */
  constructor(source: string, flags: string) {
    this.source = source;
    this.flags = flags;
    // Unicode is how the matcher works anyway.
    const own = flags.replace('u', '');
    const test = compilePattern(own === '' ? source : `(?${own})${source}`);
    if (!test)
      throw new SyntaxError(
        `Invalid regular expression /${source}/${flags}: use the syntax of RE2, without look-arounds and back references`,
      );
    this.test = test;
  }

  /** Returns the text that makes it. */
  toJSON(): string {
    return `/${this.source}/${this.flags}`;
  }
}
