import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const SERVER = 'examples/reference-server';

function manifest(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** Returns the folders of a workspace package and of the workspace packages that it depends on at run time. */
function dependencyFolders(folder, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const [name, version] of Object.entries(manifest(folder).dependencies ?? {})) {
    if (version.startsWith('workspace:')) dependencyFolders(`packages/${name.split('/')[1]}`, found);
  }
  return found;
}

/** Returns the folders of the server and of all its packages. */
const serverFolders = () => [...dependencyFolders(SERVER)];

/** Returns the paths of a package's source modules, relative to `src` and sorted. */
function sourcesOf(folder) {
  const files = readdirSync(join(ROOT, folder, 'src'), { recursive: true });
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).sort();
}

function hashOf(start, files) {
  const hash = createHash('sha256').update(start);
  for (const file of files) hash.update(`\0${file}\0`).update(existsSync(file) ? readFileSync(file) : '');
  return hash.digest('hex');
}

/** Returns a hash of everything that an installation depends on: the lockfile, the manifests and the platform. */
export function installKey() {
  const manifests = [...serverFolders(), '.'].map((folder) => join(ROOT, folder, 'package.json'));
  const { platform, arch } = process;
  const files = [join(ROOT, 'pnpm-lock.yaml'), join(ROOT, 'pnpm-workspace.yaml'), ...manifests];
  return hashOf(`${platform} ${arch}`, files);
}

/**
 * Returns a hash of the server's sources and build scripts. It depends on the content of files, not on their
 * modification times, which `git pull` and `git checkout` change.
 */
export function buildKey(install) {
  const sources = serverFolders().flatMap((folder) => sourcesOf(folder).map((file) => join(ROOT, folder, 'src', file)));
  const scripts = ['bundle-server', 'bundle-program', 'bundled-files'];
  const builders = scripts.map((name) => join(ROOT, 'scripts', `${name}.mjs`));
  return hashOf(install, [join(ROOT, 'tsconfig.base.json'), ...builders, ...sources]);
}
