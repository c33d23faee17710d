// Packs every published package as npm would get it and holds it against publint and attw.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
const out = mkdtempSync(join(tmpdir(), 'apistrata-pack-'));
try {
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = join(root, 'packages', name);
    execFileSync('npx', ['--yes', 'pnpm@12.21.0', 'pack', '--pack-destination', out], { cwd: folder, stdio: 'pipe' });
    const tarball = join(out, `apistrata-${name}-${readVersion(folder)}.tgz`);
    run('publint', ['run', tarball, '--strict'], name);
    run('attw', [tarball, '--profile', 'esm-only'], name);
    console.log(`${name}: publint and attw are clean`);
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}

function readVersion(folder) {
  return JSON.parse(
    execFileSync('node', ['-p', 'JSON.stringify(require("./package.json"))'], { cwd: folder, encoding: 'utf8' }),
  ).version;
}

function run(tool, args, name) {
  try {
    execFileSync(join(bin, tool), args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    console.error(`${name}: ${tool} found:\n${error.stdout}${error.stderr}`);
    process.exit(1);
  }
}
