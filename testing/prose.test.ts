import { describe, expect, it } from 'vitest';
// @ts-expect-error The scripts have no declarations.
import { findReplacedWords } from '../scripts/prose/find.mjs';
// @ts-expect-error The scripts have no declarations.
import * as passages from '../scripts/prose/passages.mjs';

const { linesOf, passagesOfConfiguration, passagesOfMarkdown, passagesOfTypeScript } = passages;

/** Returns the words of a file that the style guide replaces: kind, line and word. */
function wordsIn(text: string, passages: readonly object[]): readonly string[] {
  const lineAt = linesOf(text);
  return passages.flatMap((passage) =>
    findReplacedWords(passage).map(
      ({ kind, found, index }: { readonly kind: string; readonly found: string; readonly index: number }) =>
        `${kind} ${lineAt(index)} ${found}`,
    ),
  );
}

const wordsInMarkdown = (text: string) => wordsIn(text, passagesOfMarkdown(text));

describe('the check of words', () => {
  it('finds words in the prose of Markdown, but not in code and links', () => {
    const text = 'Nobody knows.\n\n```sh\necho nobody\n```\n\n`nobody` and [a link](nobody.md)\n<!-- nobody -->\n';
    expect(wordsInMarkdown(text)).toEqual(['text 1 Nobody']);
  });

  it('finds phrases across lines, and keeps phrases that only look similar', () => {
    expect(wordsInMarkdown('It is\nno version. It is no longer used.')).toEqual(['text 1 is no v']);
  });

  it('finds words in the texts of dashboards, alert rules and systemd units, but not in their expressions', () => {
    const text = [
      '"description": "For how long \\"nobody\\" has worked on it.",',
      '"legendFormat": "{{told}} told",',
      '"expr": "told{told=\\"told\\"}",',
      '  annotations: { summary: "Processes of their own fail." }',
      '  expr: nobody > 1',
      '# Runs as the user `nobody`, as told.',
    ].join('\n');
    expect(wordsIn(text, passagesOfConfiguration(text))).toEqual([
      'text 1 nobody',
      'text 2 told',
      'text 4 Processes of their own',
      'text 6 told',
    ]);
  });

  it('finds local names that do not say what the value is, but not properties', () => {
    const text = [
      'const made = create();',
      'function ask({ taken, used: held }, who) {}',
      'const created = { made: 1, kept: made.kept };',
    ].join('\n');
    expect(wordsIn(text, passagesOfTypeScript(text))).toEqual([
      'locals 1 made',
      'locals 2 ask',
      'locals 2 taken',
      'locals 2 held',
      'locals 2 who',
    ]);
  });

  it('distinguishes comments, strings, test titles and exported names', () => {
    const text = [
      '/** Is told',
      ' * that this is',
      ' * no lease. */',
      "export const toldUsers = 'a user was told';",
      "it('is told', () => {});",
      "const key = 'told'; // told",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a sample of code
      'const template = `${key} was told ${key} of which`;',
      'const pattern = /told \\/\\/ nobody/;',
      'export interface Told { readonly whoever: string }',
    ].join('\n');
    expect([...wordsIn(text, passagesOfTypeScript(text))].sort()).toEqual([
      'comments 1 told',
      'comments 2 is no l',
      'comments 6 told',
      'names 4 toldUsers',
      'names 9 Told',
      'names 9 whoever',
      'strings 4 told',
      'strings 7 of which',
      'strings 7 told',
      'titles 5 told',
    ]);
  });

  it('accepts the messages of original services', () => {
    const text = "const message = 'There is no such action: nap';\nconst other = 'There is no such thing';";
    expect(wordsIn(text, passagesOfTypeScript(text))).toEqual(['strings 2 no such']);
  });
});
