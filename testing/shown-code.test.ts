import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compilerErrorsOf, type ShownProgram } from './entry-points.js';
import { blocksOf, documentPages } from './shown-blocks.js';

const root = join(import.meta.dirname, '..');

/** A package that depends on all packages of the workspace: the programs of the pages are compiled there. */
const COMPILE_FOLDER = 'examples/reference-server';

/** A program on a page, with its preceding comment. */
interface Shown {
  readonly page: string;
  readonly line: number;
  readonly code: string;
  /** `<!-- given: ... -->`: lines that the page does not repeat. */
  readonly given: string;
  /** `<!-- tested by FILE -->`: the test that compiles it in its place. */
  readonly testedBy: string | undefined;
  /** `<!-- not compiled: reason -->` */
  readonly reason: string | undefined;
}

/** Signatures of a package, which `signatures.test.ts` compiles with its types. */
const SIGNATURES = /^declare function /m;

function shownOn(page: string): readonly Shown[] {
  return blocksOf(page)
    .filter(({ language, code }) => language === 'ts' && !SIGNATURES.test(code))
    .map(({ line, code, comment }) => {
      const [, kind, value = ''] = /^(given|tested by|not compiled):?\s([\s\S]*)$/.exec(comment) ?? [];
      return {
        page,
        line,
        code,
        given: kind === 'given' ? value : '',
        testedBy: kind === 'tested by' ? value : undefined,
        reason: kind === 'not compiled' ? value : undefined,
      };
    });
}

/** The path at which a program is compiled: the one in its first line, if there is one. */
function programOf({ page, line, code, given }: Shown): ShownProgram {
  const path = /^\/\/ ((?:packages|examples)\/\S+\.ts)\n/.exec(code)?.[1];
  const name = `${page.replaceAll('/', ' ')} line ${line}`;
  const file = path?.replace(/\.ts$/, ` of ${name}.ts`) ?? `${COMPILE_FOLDER}/${name}.ts`;
  return { file: join(root, file), text: `${given}\n${code}\nexport {};\n` };
}

/** The tests of the package that a README describes: they contain some of its programs word for word. */
function testsOf(page: string): readonly string[] {
  if (!page.startsWith('packages/')) return [];
  const folder = join(root, dirname(page), 'test');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}

describe('programs in the documents', () => {
  const shown = documentPages().flatMap((page) => {
    const tests = testsOf(page);
    return shownOn(page).filter(({ code }) => !tests.some((text) => text.includes(code.trim())));
  });

  it('compile, except those with a documented reason', () => {
    expect(shown.length).toBeGreaterThan(12);
    const compiled = shown.filter(({ testedBy, reason }) => testedBy === undefined && reason === undefined);
    const broken = programOf({ ...compiled[0]!, page: 'broken', code: 'export const one: number = "one";' });
    expect(compilerErrorsOf([...compiled.map(programOf), broken])).toEqual([expect.stringContaining('broken')]);
  }, 300_000);

  it('are compiled by the test that their page specifies', () => {
    const invalidReferences = shown.filter(({ page, testedBy }) => {
      if (testedBy === undefined) return false;
      const test = join(root, testedBy);
      return !existsSync(test) || !readFileSync(test, 'utf8').includes(page);
    });
    expect(invalidReferences.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('include only one that cannot be compiled', () => {
    expect(shown.filter(({ reason }) => reason !== undefined).map(({ page }) => page)).toEqual([
      'packages/explorer/README.md',
    ]);
  });
});
