// Packs every published package as npm would get it and holds it against publint and attw.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { manifestOf, publishedFolders, servesCommonJs } from '../scripts/manifests.mjs';
import { fetchPnpm } from '../scripts/tools.mjs';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
const out = mkdtempSync(join(tmpdir(), 'apistrata-pack-'));
const execute = promisify(execFile);
const pnpm = await fetchPnpm();

async function check(folder) {
  const { name, version } = manifestOf(folder);
  await execute(process.execPath, [pnpm, 'pack', '--pack-destination', out], { cwd: join(root, folder) });
  const tarball = join(out, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  await run('publint', ['run', tarball, '--strict'], name);
  // Without a profile, every way to resolve a module has to find types that are true.
  const profile = servesCommonJs(folder) ? [] : ['--profile', 'esm-only'];
  await run('attw', [tarball, ...profile], name);
  console.log(`${name}: publint and attw are clean`);
}

async function run(tool, args, name) {
  try {
    await execute(join(bin, tool), args);
  } catch (error) {
    console.error(`${name}: ${tool} found:\n${error.stdout}${error.stderr}`);
    process.exitCode = 1;
  }
}

/** As many at a time as there are processors: all of it is computing. */
const waiting = publishedFolders();
async function checkNext() {
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) await check(folder);
}
try {
  await Promise.all(Array.from({ length: availableParallelism() }, checkNext));
} finally {
  rmSync(out, { recursive: true, force: true });
}
