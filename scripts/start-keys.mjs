import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const SERVER = 'examples/reference-server';

function manifest(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** The folders of a workspace package and of all that it depends on; with `dev`, for its own development too. */
function closure(folder, dev, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies = {}, devDependencies = {} } = manifest(folder);
  for (const [name, version] of Object.entries(dev ? { ...dependencies, ...devDependencies } : dependencies)) {
    if (version.startsWith('workspace:')) closure(`packages/${name.split('/')[1]}`, dev, found);
  }
  return found;
}

/** Every file below a folder that decides what is built, by name. */
function sources(folder) {
  const src = readdirSync(join(ROOT, folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [...src.sort(), join(ROOT, folder, 'tsconfig.json')];
}

function keyOf(start, files) {
  const hash = createHash('sha256').update(start);
  for (const file of files) hash.update(`\0${file}\0`).update(existsSync(file) ? readFileSync(file) : '');
  return hash.digest('hex');
}

/** Changes with everything that decides what is installed: the lockfile, manifests, and the Node that native code is for. */
export function installKey() {
  const manifests = [...closure(SERVER, true)].map((folder) => join(ROOT, folder, 'package.json'));
  const { versions, platform, arch } = process;
  const files = [join(ROOT, 'pnpm-lock.yaml'), join(ROOT, 'pnpm-workspace.yaml'), ...manifests];
  return keyOf(`${versions.modules} ${platform} ${arch}`, files);
}

/** Changes with every source of the server. Contents count, not times: a pull or a checkout sets those as it likes. */
export function buildKey(install) {
  const folders = [...closure(SERVER, false)];
  return keyOf(install, [join(ROOT, 'tsconfig.base.json'), ...folders.flatMap(sources)]);
}
