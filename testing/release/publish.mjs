import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Packs built packages of this repository into a folder, and publishes the tarballs.
 * @param env the environment of a registry: see `startRegistry`
 */
export function publishPacked(names, folder, env) {
  const filters = names.map((name) => `--filter=@apistrata/${name}`);
  const pack = [join(ROOT, 'scripts/pnpm.mjs'), ...filters, 'pack', '--pack-destination', folder];
  execFileSync(process.execPath, pack, { cwd: ROOT, stdio: 'pipe' });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz')))
    execFileSync('npm', ['publish', '--provenance=false', join(folder, file)], { cwd: folder, env, stdio: 'pipe' });
}
