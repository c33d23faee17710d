import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { badges } from '../scripts/images.mjs';

const root = join(import.meta.dirname, '..');
const image = (name: string) => readFileSync(join(root, 'docs/images', name), 'utf8');

it('shows badges with current values; `npm run images` writes them', () => {
  const drawn: Readonly<Record<string, string>> = badges();
  const sizes = ['healthcheck', 'microversion', 'microversion-router', 'quota', 'request-id'].map(
    (name) => `size-${name}`,
  );
  expect(Object.keys(drawn)).toEqual(['license', 'node', 'types', 'size', ...sizes]);
  for (const [name, text] of Object.entries(drawn)) expect(image(`badge-${name}.svg`)).toBe(text);
});

it('shows pictures that load nothing and are readable on light and dark pages', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const shown = [...readme.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path]) => path);
  expect(shown).toHaveLength(5);
  for (const path of shown) expect(path).toMatch(/^docs\/images\/[\w-]+\.svg$/);
  const terminal = image('quick-start.svg');
  expect(terminal).toContain('@media (prefers-color-scheme: dark)');
  expect(terminal).toMatch(/200 {2}"status": "SHUTOFF"/);
  for (const path of shown)
    expect(image(String(path).replace('docs/images/', ''))).not.toMatch(/href|url\(|@import|<script/);
});
