import { describe, expect, it } from 'vitest';
// @ts-expect-error The scripts have no declarations.
import { exceeded, lowered } from '../scripts/prose/budget.mjs';
// @ts-expect-error The scripts have no declarations.
import { findReplacedWords } from '../scripts/prose/find.mjs';
// @ts-expect-error The scripts have no declarations.
import { linesOf, passagesOfMarkdown, passagesOfTypeScript } from '../scripts/prose/passages.mjs';

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

  it('rejects more findings than the budget, and any in a document without one', () => {
    const budgets = { 'a comments': 2, 'docs/a.md': 1 };
    expect(exceeded({ 'a comments': 2, 'docs/a.md': 1 }, budgets)).toEqual([]);
    expect(exceeded({ 'a comments': 3, 'docs/b.md': 1 }, budgets)).toEqual(['a comments', 'docs/b.md']);
  });

  it('accepts findings that move to a new package, but not new ones', () => {
    expect(exceeded({ 'a comments': 1, 'b comments': 1 }, { 'a comments': 2 })).toEqual([]);
    expect(exceeded({ 'a comments': 1, 'b comments': 2 }, { 'a comments': 2 })).toEqual(['b comments']);
  });

  it('lowers budgets and never raises them', () => {
    const budgets = { 'a comments': 5, 'b comments': 5, 'docs/a.md': 1 };
    expect(lowered({ 'a comments': 3, 'b comments': 7 }, budgets)).toEqual({ 'a comments': 3, 'b comments': 5 });
  });
});
