import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
// @ts-expect-error: scripts have no types
import { installedFolderOf } from '../scripts/published-form.mjs';

const root = join(import.meta.dirname, '..');

/** Links a package that is installed for one folder into the `node_modules` of another folder, unless it is there. */
export function linkPackage(name: string, from: string, into: string): void {
  const path = join(into, 'node_modules', name);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(installedFolderOf(from, name), path);
}

/**
 * Packs packages of this repository as for the registry, unpacks the tarballs into the `node_modules` of a folder, and
 * links their dependencies, including optional peers, which their sub-paths require.
 */
export function installPacked(names: readonly string[], folder: string): void {
  const packed = join(folder, 'packed');
  mkdirSync(packed);
  const filters = names.map((name) => `--filter=@apistrata/${name}`);
  const args = [join(root, 'scripts/pnpm.mjs'), ...filters, 'pack', '--pack-destination', packed];
  execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
  for (const name of names) {
    const source = join(root, 'packages', name);
    const { version, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    const target = join(folder, 'node_modules', '@apistrata', name);
    mkdirSync(target, { recursive: true });
    const tarball = join(packed, `apistrata-${name}-${version}.tgz`);
    execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
      if (!needed.startsWith('@apistrata/')) linkPackage(needed, source, folder);
  }
}
