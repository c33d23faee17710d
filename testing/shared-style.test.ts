import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

/** The custom properties that a style sheet defines in its first rule. */
function tokensIn(text: string): ReadonlyMap<string, string> {
  const [, rule = ''] = /:root \{([^}]*)\}/.exec(text) ?? [];
  return new Map([...rule.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value]));
}

// The health package has no dependencies, so it repeats the properties that its page needs.
it('the health page has the colors and fonts of the design system', () => {
  const [system, health] = [
    tokensIn(read('packages/ui/assets/tokens.css')),
    tokensIn(read('packages/healthcheck/src/formats/page-style.ts')),
  ];
  expect(health.size).toBeGreaterThan(10);
  expect([...health].filter(([name, value]) => system.get(name) !== value)).toEqual([]);
});

it('no other style sheet defines colors', () => {
  const styles = ['layout', 'lists', 'operation', 'request-form'].map((name) => `packages/explorer/assets/${name}.css`);
  for (const path of [...styles, 'packages/test-cloud/src/page/page-style.ts'])
    expect([path, tokensIn(read(path)).size]).toEqual([path, 0]);
});
