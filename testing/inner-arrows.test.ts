import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const packages = join(import.meta.dirname, '..', 'packages');

interface Source {
  /** Below `src`. */
  readonly file: string;
  readonly text: string;
  /** Files of the same package that it imports, types included. */
  readonly own: readonly string[];
}

function sourcesOf(name: string): readonly Source[] {
  const src = join(packages, name, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      const relatives = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)\.js'/g)];
      const own = relatives.map(([, id]) => relative(src, join(src, dirname(file), `${id}.ts`)));
      return { file, text, own };
    });
}

/** Files that lead back to themselves. */
function circlesOf(sources: readonly Source[]): readonly string[] {
  const imports = new Map(sources.map(({ file, own }) => [file, own]));
  const leadsBack = (start: string): boolean => {
    const seen = new Set<string>();
    const next = [...(imports.get(start) ?? [])];
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (file === start) return true;
      if (seen.has(file)) continue;
      seen.add(file);
      next.push(...(imports.get(file) ?? []));
    }
    return false;
  };
  return [...imports.keys()].filter(leadsBack);
}

/** The room of a file: its folder below `src`, or the file itself. */
const roomOf = (file: string) => file.split('/')[0] ?? file;

/** What each room of the engine may not know: what stands above it. */
const above: Readonly<Record<string, readonly string[]>> = {
  model: ['store', 'catalogs', 'lifecycle', 'runs', 'actions', 'services'],
  lifecycle: ['core.ts', 'runs', 'actions', 'services'],
  'core.ts': ['runs', 'actions', 'services'],
  scheduler: ['runs', 'actions', 'services'],
  quotas: ['runs', 'actions', 'services'],
  flavors: ['runs', 'actions', 'services'],
  images: ['runs', 'actions', 'services'],
  ports: ['runs', 'actions', 'services'],
  volumes: ['runs', 'actions', 'services'],
  shares: ['runs', 'actions', 'services'],
  migrations: ['runs', 'actions', 'services'],
  runs: ['actions', 'services'],
  actions: ['services'],
};

describe('inside the packages', () => {
  it.each(['microversion', 'request-id', 'healthcheck', 'quota', 'compute-engine', 'compute-router'])(
    'no file of %s leads back to itself, not even by types',
    (name) => {
      expect(circlesOf(sourcesOf(name))).toEqual([]);
    },
  );

  it('a circle is found', () => {
    const file = (name: string, ...own: string[]): Source => ({ file: name, text: '', own });
    expect(circlesOf([file('a', 'b'), file('b', 'c'), file('c', 'b')])).toEqual(['b', 'c']);
  });

  it.each(Object.entries(above))('%s of the engine knows nothing of what stands above it', (room, forbidden) => {
    const sources = sourcesOf('compute-engine').filter(({ file }) => roomOf(file) === room);
    expect(sources.length).toBeGreaterThan(0);
    const arrows = sources.flatMap(({ file, own }) => own.map((to) => `${file} -> ${to}`));
    expect(arrows.filter((arrow) => forbidden.includes(roomOf(arrow.split(' -> ')[1] ?? '')))).toEqual([]);
  });

  it('only the store of the engine knows a database driver', () => {
    const knowing = sourcesOf('compute-engine').filter(({ text }) =>
      /(?:from|import|require)\s*\(?\s*'(?:pg|better-sqlite3|node:sqlite)'/.test(text),
    );
    expect(knowing.map(({ file }) => roomOf(file)).filter((room) => room !== 'store')).toEqual([]);
  });

  it('zod is loaded by the engine for presets of others, and for nothing else', () => {
    const sources = sourcesOf('compute-engine');
    const loading = sources
      .filter(({ text }) => /^import (?!type )[^;]*from 'zod'/m.test(text))
      .map(({ file }) => file);
    expect(loading.sort()).toEqual(['preset/parse-preset.ts', 'preset/preset-schema.ts']);
    const leading = sources.filter(({ text }) =>
      /^(?:import|export) (?!type )[^;]* from '[^']*\/(?:parse-preset|preset-schema)\.js'/m.test(text),
    );
    expect(leading.map(({ file }) => file).sort()).toEqual(['preset/index.ts', 'preset/parse-preset.ts']);
  });

  it('actions reach machines by one way alone', () => {
    const asking = sourcesOf('compute-engine').filter(
      ({ file, text }) => /driver\.perform\(|driver\b[^;\n]*\.perform\(/.test(text) && roomOf(file) !== 'testing',
    );
    expect(asking.map(({ file }) => file)).toEqual(['drivers/machines.ts']);
  });

  it('views of the router know no operations', () => {
    const views = sourcesOf('compute-router').filter(({ file }) => roomOf(file) === 'views');
    expect(views.flatMap(({ own }) => own).filter((to) => roomOf(to) === 'operations')).toEqual([]);
  });
});
