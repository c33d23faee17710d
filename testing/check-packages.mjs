// Packs every published package and checks it with publint and attw. The size of its tarball must not exceed the budget in
// docs/dependencies.md.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { manifestOf, publishedFolders, supportsCommonJs } from '../scripts/manifests.mjs';
import { fetchPnpm } from '../scripts/tools.mjs';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
const out = mkdtempSync(join(tmpdir(), 'apistrata-pack-'));
const execute = promisify(execFile);
const pnpm = await fetchPnpm();

/** The size budgets of tarballs in kB, by package name, from the last column of the table. */
function readBudgets() {
  const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
  const rows = page.matchAll(/^\| `(@apistrata\/[\w-]+)` \|.* ([\d.,]+) kB \|$/gm);
  return new Map(Array.from(rows, ([, name, kilobytes]) => [name, Number(kilobytes.replace(',', ''))]));
}

const budgets = readBudgets();

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

async function run(tool, args, name) {
  try {
    await execute(join(bin, tool), args);
  } catch (error) {
    fail(`${name}: ${tool} found:\n${error.stdout}${error.stderr}`);
  }
}

async function check(folder) {
  const { name, version, exports } = manifestOf(folder);
  await execute(process.execPath, [pnpm, 'pack', '--pack-destination', out], { cwd: join(root, folder) });
  const tarball = join(out, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  const kilobytes = statSync(tarball).size / 1000;
  const budget = budgets.get(name);
  if (!(kilobytes <= budget))
    fail(`${name}: the tarball has ${kilobytes.toFixed(1)} kB; docs/dependencies.md allows ${budget ?? 'nothing'}`);
  await run('publint', ['run', tarball, '--strict'], name);
  // Without a profile, attw requires correct types for every module resolution.
  const profile = supportsCommonJs(folder) ? [] : ['--profile', 'esm-only'];
  // A program that exports nothing has no types.
  if (exports['.']) await run('attw', [tarball, ...profile], name);
  console.log(`${name}: ${kilobytes.toFixed(1)} kB of ${budget}`);
}

/** Checks as many packages concurrently as there are processors. */
const queue = publishedFolders();
async function checkNext() {
  for (let folder = queue.pop(); folder; folder = queue.pop()) await check(folder);
}
try {
  await Promise.all(Array.from({ length: availableParallelism() }, checkNext));
} finally {
  rmSync(out, { recursive: true, force: true });
}
