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

/** What stands on top of actions: creation and lists of servers, and the service of each resource. */
const services = ['servers/create', 'servers/list', 'servers/servers.ts', 'resources/usage/usage.ts', 'engine'];

/** What each folder of the engine must not import: the folders above it. */
const above: Readonly<Record<string, readonly string[]>> = {
  model: ['schema', 'jobs', 'actions', ...services],
  schema: ['jobs', 'core/core.ts', 'actions', 'servers', 'resources', 'hosts', 'engine'],
  jobs: ['core/core.ts', 'actions', ...services],
  'core/core.ts': ['actions', ...services],
  scheduler: ['actions', ...services],
  'resources/quotas/server-quota.ts': ['actions', ...services],
  'servers/volumes/server-volumes.ts': ['actions', ...services],
  'servers/interfaces/server-ports.ts': ['actions', ...services],
  'server-migrations/migration-record.ts': ['actions', ...services],
  'actions/runner': [
    'actions/action-table.ts',
    'actions/create',
    'actions/moves',
    'actions/power',
    'actions/volumes',
    ...services,
  ],
  actions: services,
};

const isIn = (file: string, place: string) => file === place || file.startsWith(`${place}/`);

describe('inside the packages', () => {
  it.each([
    'microversion',
    'request-id',
    'healthcheck',
    'quota',
    'record-store',
    'catalogs',
    'compute-engine',
    'compute-router',
  ])('no file of %s leads back to itself, not even by types', (name) => {
    expect(circlesOf(sourcesOf(name))).toEqual([]);
  });

  it('a circle is found', () => {
    const file = (name: string, ...own: string[]): Source => ({ file: name, text: '', own });
    expect(circlesOf([file('a', 'b'), file('b', 'c'), file('c', 'b')])).toEqual(['b', 'c']);
  });

  it.each(Object.entries(above))('%s of the engine imports nothing that stands above it', (place, forbidden) => {
    const sources = sourcesOf('compute-engine').filter(({ file }) => isIn(file, place));
    expect(sources.length).toBeGreaterThan(0);
    const arrows = sources.flatMap(({ file, own }) => own.map((to) => [file, to] as const));
    expect(arrows.filter(([, to]) => forbidden.some((other) => isIn(to, other)))).toEqual([]);
  });

  it.each(Object.entries(above))('what stands above %s exists', (_place, forbidden) => {
    const files = sourcesOf('compute-engine').map(({ file }) => file);
    expect(forbidden.filter((other) => !files.some((file) => isIn(file, other)))).toEqual([]);
  });

  it('only the record store imports a database driver', () => {
    const importing = ['catalogs', 'compute-engine'].flatMap((name) =>
      sourcesOf(name)
        .filter(({ text }) => /(?:from|import|require)\s*\(?\s*'(?:pg|better-sqlite3|node:sqlite)'/.test(text))
        .map(({ file }) => `${name}: ${file}`),
    );
    expect(importing).toEqual([]);
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
