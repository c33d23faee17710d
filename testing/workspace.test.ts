import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What each room may lean on: the arrows of docs/architecture.md. */
const arrows: Record<string, readonly string[]> = {
  microversion: [],
  'request-id': [],
  healthcheck: [],
  // Only its router, which serves versions: see below.
  quota: ['microversion'],
  'record-store': [],
  catalogs: ['record-store'],
  'compute-engine': ['record-store', 'catalogs', 'quota'],
  'compute-router': ['microversion', 'request-id', 'healthcheck', 'quota', 'compute-engine'],
  explorer: ['microversion'],
  qemu: ['compute-engine'],
  'test-cloud': ['compute-router', 'compute-engine', 'explorer', 'request-id', 'microversion'],
};

const root = join(import.meta.dirname, '..');

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

/** All sources below a folder, tests too. */
function everyFile(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$/.test(name))
    .map((name) => join(folder, name));
}

function importsOf(file: string): string[] {
  // Examples in comments import what their readers have.
  const text = readFileSync(file, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^'.][^']*)'/g)].map((match) => match[1]!);
}

describe('the rooms of the house', () => {
  it.each(Object.entries(arrows))('%s imports only the packages it may lean on', (name, allowed) => {
    const imported = sources(join(root, 'packages', name, 'src')).flatMap(importsOf);
    const own = imported.filter((id) => id.startsWith('@apistrata/')).map((id) => id.split('/')[1]!);
    expect([...new Set(own)].filter((id) => id !== name && !allowed.includes(id))).toEqual([]);
  });

  it.each(Object.entries(arrows))('%s declares just the arrows it may have', (name, allowed) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
    const own = Object.keys(manifest.dependencies ?? {}).filter((id) => id.startsWith('@apistrata/'));
    expect(own.map((id) => id.split('/')[1]!).filter((id) => !allowed.includes(id))).toEqual([]);
  });

  it('only the router of quota leans on another small package', () => {
    const folder = join(root, 'packages/quota/src');
    const outside = sources(folder).filter((file) => !file.startsWith(join(folder, 'router')));
    expect(outside.flatMap(importsOf).filter((id) => id.startsWith('@apistrata/'))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(root, 'packages/quota/package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependenciesMeta['@apistrata/microversion']).toEqual({ optional: true });
  });

  it.each(Object.keys(arrows))('%s reaches no other package past its doors, its tests neither', (name) => {
    const folder = join(root, 'packages', name);
    const files = ['src', 'test'].map((part) => join(folder, part)).filter((part) => existsSync(part));
    const outside = files.flatMap(everyFile).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import|require)\s*\(?\s*'(\.[^']*)'/g)]
        .map((match) => join(dirname(file), match[1] ?? ''))
        .filter((to) => !to.startsWith(`${folder}/`) && !to.startsWith(join(root, 'testing/')))
        .map((to) => `${file} -> ${to}`),
    );
    expect(outside).toEqual([]);
  });

  it.each(Object.entries(arrows))('%s requires only what it may import', (name, allowed) => {
    const texts = everyFile(join(root, 'packages', name, 'src')).map((file) => readFileSync(file, 'utf8'));
    const required = texts
      .filter((text) => text.includes('createRequire'))
      .flatMap((text) => [...text.matchAll(/require\w*\(\s*'(@apistrata\/[^'/]+)/gi)].map((match) => match[1] ?? ''));
    expect(required.map((id) => id.split('/')[1] ?? '').filter((id) => id !== name && !allowed.includes(id))).toEqual(
      [],
    );
  });

  it('the engine never imports an HTTP framework', () => {
    const imported = sources(join(root, 'packages/compute-engine/src')).flatMap(importsOf);
    expect(imported.filter((id) => /^(express|pino-http)/.test(id))).toEqual([]);
  });

  it('the router never imports a database driver', () => {
    const imported = sources(join(root, 'packages/compute-router/src')).flatMap(importsOf);
    expect(imported.filter((id) => /^(pg|kysely|better-sqlite3|node:sqlite|ioredis)$/.test(id))).toEqual([]);
  });
});
