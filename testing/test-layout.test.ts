import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

const packageFolders = ['packages', 'examples'].flatMap((kind) =>
  readdirSync(join(root, kind), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, kind, name)),
);

/** Sockets, other processes, databases, and servers for tests. */
const heavy =
  /^(?:node:(?:http2?|https|net|dgram|child_process|cluster|sqlite)|pg|mysql2\/promise|kysely|ioredis|better-sqlite3|supertest|express4?|playwright-core)$/;

/** Modules that give a test an engine or a database. */
const engineOrStore =
  /^src\/(?:engine\/(?:create-engine|engine|engine-core)|schema\/open-store|store\/(?:store|database)|sqlite\/sqlite-\w+)\.ts$/;

interface Imports {
  /** The path below the folder of the package, such as 'src/limits.ts'. */
  readonly own: readonly string[];
  /** Packages, and files in the folders of other packages. */
  readonly others: readonly string[];
}

/** The runtime imports of a file, and its type imports if `types` is set. */
function importsOf(folder: string, file: string, types: boolean): Imports {
  const text = readFileSync(join(folder, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  const ids = [...text.matchAll(/^(?:import|export) (type )?(?:[^;']* from )?'([^']+)';|\bimport\(\s*'([^']+)'/gm)]
    .filter(([, type]) => types || type === undefined)
    .map(([, , id, late]) => id ?? late ?? '');
  const inside = (id: string) => relative(folder, join(folder, dirname(file), id)).replace(/\.js$/, '.ts');
  const isOwn = (id: string) => id.startsWith('.') && !inside(id).startsWith('..');
  return { own: ids.filter(isOwn).map(inside), others: ids.filter((id) => !isOwn(id)) };
}

const isEntryPoint = (file: string) => file.endsWith('/index.ts');

/** Returns why a test covers more than one module; undefined if it does not. */
function reasonsFor({ own, others }: Imports): readonly string[] {
  return [
    ...others.filter((id) => heavy.test(id) || id.startsWith('@apistrata/') || id.startsWith('..')),
    ...own.filter((id) => isEntryPoint(id) || engineOrStore.test(id) || id.startsWith('test/')),
  ];
}

/** Imports that the test next to a module must not have: all except the module, its own imports, and sample records. */
function unrelatedImports(module: string, folder: string, { own }: Imports): readonly string[] {
  const knownModules = new Set([module, ...importsOf(folder, module, true).own]);
  return own.filter((id) => !knownModules.has(id) && !id.startsWith('src/testing/'));
}

describe.each(packageFolders.map((folder) => [relative(root, folder), folder]))('the tests of %s', (_name, folder) => {
  const testsIn = (part: string) =>
    (existsSync(join(folder, part)) ? readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }) : [])
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => ({ file: join(part, file), imports: importsOf(folder, join(part, file), false) }));

  it('are next to the source if they test one module, with its name', () => {
    const misplaced = testsIn('src').flatMap(({ file, imports }) => {
      const module = file.replace(/\.test\.ts$/, '.ts');
      if (!existsSync(join(folder, module))) return [`${file}: there is no ${module}`];
      // Packages that the module itself imports are allowed.
      const used = importsOf(folder, module, true).others.filter((id) => !heavy.test(id));
      const reason = [
        ...reasonsFor(imports).filter((id) => !used.includes(id)),
        ...unrelatedImports(module, folder, imports),
      ];
      return reason.length ? [`${file} imports ${reason.join(', ')}`] : [];
    });
    expect(misplaced).toEqual([]);
  });

  it('are in test/ if they need an engine, a socket, a database, an entry point or several modules', () => {
    const misplaced = testsIn('test').filter(({ imports }) => imports.own.length === 1 && !reasonsFor(imports).length);
    expect(misplaced.map(({ file, imports }) => `${file} imports ${imports.own.join(', ')} alone`)).toEqual([]);
  });
});

describe('the requirements of a test', () => {
  it('are derived from its imports', () => {
    const heavyImports = ['node:net', 'pg', '@apistrata/quota', '../../../testing/send-request.js'];
    const own = ['src/engine/engine.ts', 'src/store/store.ts', 'src/keys/index.ts', 'test/clouds.ts'];
    expect(reasonsFor({ own, others: heavyImports })).toEqual([...heavyImports, ...own]);
    expect(reasonsFor({ own: ['src/limits.ts'], others: ['node:fs', 'fast-check', 'vitest'] })).toEqual([]);
  });

  it('are read from the file, without types', () => {
    const engine = join(root, 'packages/record-store');
    const file = 'test/apart/record-cache.test.ts';
    expect(importsOf(engine, file, false).own).not.toContain('src/store/store.ts');
    expect(importsOf(engine, file, true).own).toContain('src/store/store.ts');
  });
});
