import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** Returns the packages that are loaded with a module, and the import path to each; dynamic imports are excluded. */
function loadedWith(file: string, seen = new Map<string, readonly string[]>()): ReadonlyMap<string, readonly string[]> {
  if (seen.has(file)) return seen;
  const text = readFileSync(join(src, file), 'utf8');
  const ids = [...text.matchAll(/^(?:import|export) (?!type )(?:[^;']* from )?'([^']+)';/gm)].map(([, id]) => id ?? '');
  seen.set(
    file,
    ids.filter((id) => !id.startsWith('.')),
  );
  for (const id of ids.filter((name) => name.startsWith('.')))
    loadedWith(relative(src, join(src, dirname(file), id)).replace(/\.js$/, '.ts'), seen);
  return seen;
}

it.each(['program.ts', 'host/host-command.ts', 'admin/admin.ts', 'workers/serve-by-workers.ts'])(
  '%s does not load the API, which would account for most of its startup time',
  (file) => {
    const loading = [...loadedWith(file)].filter(([, packages]) => packages.includes('@apistrata/compute-router'));
    expect(loading.map(([module]) => module)).toEqual([]);
    expect([...loadedWith('serve.ts').values()].flat()).toContain('@apistrata/compute-router');
  },
);
