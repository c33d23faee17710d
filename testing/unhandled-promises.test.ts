import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { unhandledPromises } from './unhandled-promises.js';

const root = resolve(import.meta.dirname, '..');

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(root, folder, name));
}

it('finds promises without a handler while another one is awaited', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-promises-'));
  const file = join(folder, 'sample.ts');
  writeFileSync(
    file,
    `export async function g(): Promise<number> { return 1; }
     export async function declared() { const x = g(); await g(); return await x; }
     export async function given(x: Promise<number>) { await g(); return x; }
     export async function siblings() { return [g(), await g()]; }
     export async function floating() { g(); }
     export async function fine(x: Promise<number>) { const y = await g(); g().catch(() => {}); return Promise.all([g(), g(), y]); }
     export async function alsoFine() { const x = g(); const y = await x; return y + await g(); }`,
  );
  const lines = unhandledPromises(root, [file]).map((text) => /sample\.ts:(\d+): (.*)/.exec(text)!.slice(1).join(' '));
  rmSync(folder, { recursive: true });
  expect(lines).toEqual([
    "2 'x' is a promise without a handler while another one is awaited",
    "3 'x' is a promise without a handler while another one is awaited",
    '4 a promise without a handler while a sibling is awaited',
    '5 a promise without a handler',
    "6 'x' is a promise without a handler while another one is awaited",
  ]);
});

it('finds no promise without a handler in the sources', { timeout: 300_000 }, () => {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
  const files = [...folders, 'examples/reference-server/src'].flatMap(sourcesOf);
  expect(files.length).toBeGreaterThan(1000);
  expect(unhandledPromises(root, files)).toEqual([]);
});
