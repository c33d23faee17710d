import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const TOKENS = 'packages/ui/assets/tokens.css';
const HEALTH_PAGE = 'packages/healthcheck/src/formats/page-style.ts';

/** The colors that are not tokens: those of filled buttons and bars, and of consoles, which are always dark. */
const OTHER_COLORS: Readonly<Record<string, readonly string[]>> = {
  'examples/reference-server/src/consoles/console-pages.ts': ['#222', '#eee'],
  'packages/explorer/assets/operation.css': ['#a9a7f0', '#4b4e96'],
  'packages/test-cloud/src/page/page-style.ts': ['#222'],
  'packages/ui/assets/base.css': ['#4a46d6', '#5d59e8', '#ffffff'],
};

/** The custom properties that a style sheet defines in its first rule. */
function tokensIn(text: string): ReadonlyMap<string, string> {
  const [, rule = ''] = /:root \{([^}]*)\}/.exec(text) ?? [];
  return new Map([...rule.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value]));
}

const colorsIn = (text: string) => text.match(/#[\da-f]{3,8}\b|\b(?:rgb|hsl)a?\([^)]*\)/gi) ?? [];

/** Returns the colors of a style sheet, except in the properties that VitePress itself or the health page defines. */
function ownColors(path: string): readonly string[] {
  const text = read(path).replaceAll(/--vp-[\w-]+:[^;]*;/g, '');
  return colorsIn(path === HEALTH_PAGE ? text.replace(/:root \{[^}]*\}/, '') : text);
}

// The health package has no dependencies, so it repeats the properties that its page needs.
it('the health page has the colors and fonts of the design system', () => {
  const [system, health] = [tokensIn(read(TOKENS)), tokensIn(read(HEALTH_PAGE))];
  expect(health.size).toBeGreaterThan(10);
  expect([...health].filter(([name, value]) => system.get(name) !== value)).toEqual([]);
});

it('no other style sheet defines colors', () => {
  const listed = execFileSync('git', ['ls-files', '*.css', '*page-style.ts', '*console-pages.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = listed.trim().split('\n');
  expect(paths).toEqual(expect.arrayContaining([TOKENS, HEALTH_PAGE, ...Object.keys(OTHER_COLORS)]));
  expect(ownColors(TOKENS).length).toBeGreaterThan(30);
  const colors = paths.filter((path) => path !== TOKENS).map((path) => [path, ownColors(path)] as const);
  expect(Object.fromEntries(colors.filter(([, own]) => own.length > 0))).toEqual(OTHER_COLORS);
});
