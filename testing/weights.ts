import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
// @ts-expect-error: scripts have no types
import { installedFolderOf, installPublishedForms } from '../scripts/published-form.mjs';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');

/** Returns the rows of the table below a heading of `docs/dependencies.md`, by their first cell without its markup. */
export function documentedRows(heading: string): ReadonlyMap<string, readonly string[]> {
  const [, section] = page.split(`## ${heading}\n`);
  const [text] = section!.split('\n## ');
  const rows = text!.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
  return new Map(cells.map(([name, ...rest]) => [name!, rest]));
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * Names of the packages that npm installs with a package: required and optional dependencies, without optional peers.
 */
function neededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Manifest): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Installs all published packages in a project's folder. Returns the folder that contains a folder for each package. */
export async function publishedPackages(project: string): Promise<string> {
  await installPublishedForms(project);
  return join(project, 'node_modules', '@apistrata');
}

function closure(folder: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of neededBy(readManifest(folder))) closure(installedFolderOf(folder, name), found);
  return found;
}

/** Matches folders that do not count: dependencies, which are counted separately, and the output of C compilers. */
const excluded = /^(node_modules|build)$/;

function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !excluded.test(name));
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? bytesOf(path) : statSync(path).size;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns the number of packages and bytes that npm installs for a package in a folder, including itself. */
export function installed(folder: string): { readonly packages: number; readonly megabytes: number } {
  const folders = [...closure(folder)];
  return { packages: folders.length, megabytes: folders.reduce((sum, folder) => sum + bytesOf(folder), 0) / 1e6 };
}

/** Returns the size of the bundle of a package's main entry, minified and gzipped, in kB. */
export async function gzippedEntry(folder: string): Promise<number> {
  const bundle = await rolldown({ input: join(folder, 'dist/index.js'), platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output.reduce((sum, part) => sum + (part.type === 'chunk' ? gzipSync(part.code).length : 0), 0) / 1000;
}

// In a separate process, where nothing is loaded yet. The hooks run in a thread, and write to a file because a pipe may
// be full.
const HOOKS = `
import { appendFileSync } from 'node:fs';
export function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\n');
  return next(url, context);
}`;
const IMPORTER = `
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(process.env.HOOKS));
await import(process.env.MODULE);`;

/** Returns the module files that an import of a package's main entry loads, including modules of dependencies. */
export function loadedWith(folder: string): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), 'apistrata-loaded-'));
  const LOADED = join(directory, 'urls');
  const env = { ...process.env, HOOKS, LOADED, MODULE: pathToFileURL(join(folder, 'dist/index.js')).href };
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', IMPORTER], { env });
    return readFileSync(LOADED, 'utf8')
      .split('\n')
      .filter((url) => url.startsWith('file:'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
