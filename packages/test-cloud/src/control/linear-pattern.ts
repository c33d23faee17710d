import { compilePattern } from '@apistrata/compute-engine/api';

/**
 * A pattern from a client, matched in time linear in the text, so that no rule can block the process. It replaces the
 * `RegExp` of rules that programs set.
 */
export class LinearPattern {
  readonly source: string;
  readonly flags: string;
  readonly test: (text: string) => boolean;

  /** @throws SyntaxError for patterns without linear matching: lookaround, back references, and very large ones */
  constructor(source: string, flags: string) {
    this.source = source;
    this.flags = flags;
    // The matcher always uses Unicode.
    const own = flags.replace('u', '');
    const test = compilePattern(own === '' ? source : `(?${own})${source}`);
    if (!test)
      throw new SyntaxError(
        `Invalid regular expression /${source}/${flags}: use the syntax of RE2, without lookaround and back references`,
      );
    this.test = test;
  }

  /** Returns the pattern in the notation of rules. */
  toJSON(): string {
    return `/${this.source}/${this.flags}`;
  }
}
