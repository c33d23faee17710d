import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaintsAbout, type ShownProgram } from './doors.js';

const root = join(import.meta.dirname, '..');

/** Has every package of ours among its dependencies: where programs of the pages are compiled. */
const HOME = 'examples/reference-server';

/** A program on a page, and what the comment before it says of it. */
interface Shown {
  readonly page: string;
  readonly line: number;
  readonly code: string;
  /** `<!-- given: ... -->`: lines that the page does not repeat. */
  readonly given: string;
  /** `<!-- held by FILE -->`: the test that compiles it in its place. */
  readonly heldBy: string | undefined;
  /** `<!-- not compiled: why -->` */
  readonly why: string | undefined;
}

function shownOn(page: string): readonly Shown[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = text.matchAll(
    /(?:<!-- (given|held by|not compiled):?\s((?:(?!-->)[\s\S])*?)\s*-->\n+)?^```ts\n([\s\S]*?)^```$/gm,
  );
  return [...blocks].map(({ index, 1: kind, 2: said = '', 3: code = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    code,
    given: kind === 'given' ? said : '',
    heldBy: kind === 'held by' ? said : undefined,
    why: kind === 'not compiled' ? said : undefined,
  }));
}

/** Where a program is compiled: at the path in its first line, where it has one. */
function programOf({ page, line, code, given }: Shown): ShownProgram {
  const path = /^\/\/ ((?:packages|examples)\/\S+\.ts)\n/.exec(code)?.[1];
  const name = `${page.replaceAll('/', ' ')} line ${line}`;
  const file = path?.replace(/\.ts$/, ` of ${name}.ts`) ?? `${HOME}/${name}.ts`;
  return { file: join(root, file), text: `${given}\n${code}\nexport {};\n` };
}

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);

describe('programs that the pages show', () => {
  const shown = pages.flatMap(shownOn);

  it('compile, all but those that say why not', () => {
    expect(shown.length).toBeGreaterThan(12);
    const compiled = shown.filter(({ heldBy, why }) => heldBy === undefined && why === undefined);
    const broken = programOf({ ...compiled[0]!, page: 'broken', code: 'export const one: number = "one";' });
    expect(complaintsAbout([...compiled.map(programOf), broken])).toEqual([expect.stringContaining('broken')]);
  }, 300_000);

  it('are held by a test that reads their page, where they say so', () => {
    const untrue = shown.filter(({ page, heldBy }) => {
      if (heldBy === undefined) return false;
      const test = join(root, heldBy);
      return !existsSync(test) || !readFileSync(test, 'utf8').includes(page);
    });
    expect(untrue.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('are few that cannot be compiled', () => {
    expect(shown.filter(({ why }) => why !== undefined).map(({ page }) => page)).toEqual(['docs/test-cloud-in-ci.md']);
  });
});
