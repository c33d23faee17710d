import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
// @ts-expect-error: scripts have no types
import { installedFor, installPublishedForms } from '../scripts/published-form.mjs';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Names of the packages that npm installs beside a package: what it needs and what it would like to have, no optional peers. */
function neededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Manifest): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Installs all packages as they are published; gives the folder in which each is found by its name. */
export async function publishedPackages(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'apistrata-weights-'));
  process.once('exit', () => rmSync(project, { recursive: true, force: true }));
  await installPublishedForms(project);
  return join(project, 'node_modules', '@apistrata');
}

function closure(folder: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of neededBy(readManifest(folder))) closure(installedFor(folder, name), found);
  return found;
}

/** Installed beside a package, or, as what is compiled from C, not the same on every machine. */
const leftOut = /^(node_modules|build)$/;

function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !leftOut.test(name));
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? bytesOf(path) : statSync(path).size;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** How many packages and bytes npm puts on the disk for a package in a folder, itself included. */
export function installed(folder: string): { readonly packages: number; readonly megabytes: number } {
  const folders = [...closure(folder)];
  return { packages: folders.length, megabytes: folders.reduce((sum, folder) => sum + bytesOf(folder), 0) / 1e6 };
}

/** What a bundler makes of all that the main entry of a package loads, minified and gzipped, in kB. */
export async function gzippedEntry(folder: string): Promise<number> {
  const bundle = await rolldown({ input: join(folder, 'dist/index.js'), platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output.reduce((sum, part) => sum + (part.type === 'chunk' ? gzipSync(part.code).length : 0), 0) / 1000;
}

// In a process of its own, where nothing is loaded yet. The hooks run in a thread, which writes by itself.
const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(1, url + '\\n');
  return next(url, context);
}`;
const IMPORTER = `
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(process.env.HOOKS));
await import(process.env.MODULE);`;

/** The files of modules that importing the main entry of a package loads, ours and other people's. */
export function loadedWith(folder: string): readonly string[] {
  const env = { ...process.env, HOOKS, MODULE: pathToFileURL(join(folder, 'dist/index.js')).href };
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', IMPORTER], { encoding: 'utf8', env });
  return text.split('\n').filter((url) => url.startsWith('file:'));
}
