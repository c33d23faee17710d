import { describe, expect, it } from 'vitest';
// @ts-expect-error The scripts have no declarations.
import { findReplacedWords } from '../scripts/prose/find.mjs';
// @ts-expect-error The scripts have no declarations.
import { LANGUAGES } from '../scripts/prose/languages.mjs';
// @ts-expect-error The scripts have no declarations.
import * as passages from '../scripts/prose/passages.mjs';

const { linesOf, passagesOfConfiguration, passagesOfMarkdown, passagesOfSource, passagesOfTypeScript } = passages;

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

/** Returns the words of a file in the language of its ending. */
function wordsInSource(file: string, lines: readonly string[]) {
  const syntax = LANGUAGES.find(({ files }: { readonly files: RegExp }) => files.test(file));
  const text = lines.join('\n');
  return [...wordsIn(text, passagesOfSource(text, syntax))].sort();
}

describe('the check of words', () => {
  it('finds words in the prose of Markdown, but not in code and links', () => {
    const text = 'Nobody knows.\n\n```sh\necho nobody\n```\n\n`nobody` and [a link](nobody.md)\n<!-- nobody -->\n';
    expect(wordsInMarkdown(text)).toEqual(['text 1 Nobody']);
  });

  it('finds phrases across lines, and ignores phrases that only look similar', () => {
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

  it('finds local names and private members that do not say what the value is, but not properties', () => {
    const text = [
      'const made = create();',
      'function ask({ taken, used: held }, who) {}',
      'const created = { made: 1, kept: made.kept };',
      'class Users { #held = 1; #ask() { this.#held; } gone = 1; }',
    ].join('\n');
    expect(wordsIn(text, passagesOfTypeScript(text))).toEqual([
      'locals 1 made',
      'locals 2 ask',
      'locals 2 taken',
      'locals 2 held',
      'locals 2 who',
      'locals 4 held',
      'locals 4 ask',
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

  it('finds words in comments, strings and names of Go', () => {
    const words = wordsInSource('cloud/cloud.go', [
      '// Told is no',
      '// lease.',
      'type Told struct{}',
      'func (c *Told) AskedUsers() {',
      '\tmet, held := "a user is told // asked", `he was',
      'asked`',
      '\tquote := "\\"" /* nobody */',
      '\tkey := "told"',
      '}',
    ]);
    expect(words).toEqual([
      'comments 1 Told',
      'comments 1 is no l',
      'comments 7 nobody',
      'locals 5 held',
      'locals 5 met',
      'names 3 Told',
      'names 4 AskedUsers',
      'strings 5 asked',
      'strings 5 told',
      'strings 6 asked',
    ]);
  });

  it('finds words in docstrings, comments, strings and names of Python', () => {
    const words = wordsInSource('cloud.py', [
      '"""Is',
      'no lease. "Told".',
      '"""',
      'def told_users(self):  # told',
      '    made = "nobody # told"',
      "    key = 'told'",
      '#: Asked',
      '#: users are no',
      '#: clients.',
    ]);
    expect(words).toEqual([
      'comments 1 Is no l',
      'comments 2 Told',
      'comments 4 told',
      'comments 7 Asked',
      'comments 8 are no c',
      'locals 5 made',
      'names 4 told users',
      'strings 5 nobody',
      'strings 5 told',
    ]);
  });

  it('finds words in comments, messages and names of shell scripts, but not in expansions', () => {
    const words = wordsInSource('run.sh', [
      '#!/bin/sh',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a sample of code
      'told() { echo "nobody of $#" ${path##*told} told; } # told',
      "made='it",
      "was told'",
    ]);
    expect(words).toEqual(['comments 2 told', 'locals 3 made', 'names 2 told', 'strings 2 nobody', 'strings 4 told']);
  });

  it('finds words in comments and displayed texts of YAML, and in comments of other configuration', () => {
    const workflow = ['# nobody', 'jobs:', '  told: # told', '    name: Is told', '    run: told told'];
    expect(wordsInSource('ci.yml', workflow)).toEqual(['comments 1 nobody', 'comments 3 told', 'strings 4 told']);
    expect(wordsInSource('a/Dockerfile', ['# told', 'RUN told told'])).toEqual(['comments 1 told']);
    expect(wordsInSource('page.css', ['.told { } /* told */'])).toEqual(['comments 1 told']);
    expect(wordsInSource('page.vue', ["<p>It's told</p> <!-- told -->", '// told'])).toEqual([
      'comments 1 told',
      'comments 2 told',
    ]);
  });

  it('finds words in file names', () => {
    const passage = { kind: 'names', text: 'src told users', start: 0 };
    expect(wordsIn('', [passage])).toEqual(['names 1 src told users']);
  });
});
