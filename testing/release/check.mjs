// Releases all packages to a local registry, from a clone of the working tree, and installs each of them as users do. Nothing
// leaves this machine; only programs in node_modules/.cache stay on it. Ends after at most two hours.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { folderOf, manifestOf, publishedFolders } from '../../scripts/manifests.mjs';
import { cleanEnvironment } from './clean-environment.mjs';
import { NAMES, rowsToTest } from './matrix.mjs';
import { tryOut } from './projects.mjs';
import { startRegistry } from './registry.mjs';
import { firstStatus } from './started.mjs';
import { nodeOf } from './tools.mjs';
import { uses } from './uses.mjs';

const ROOT = join(import.meta.dirname, '../..');
const HALF_HOUR = 1_800_000;
const TWO_HOURS = 7_200_000;
const TWO_YEARS = 2 * 365 * 24 * 3_600_000;

const began = performance.now();
const log = (text) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);

/** Clones the working tree, with uncommitted changes, as one commit. */
function cloneOfTree(folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  execFileSync('git', ['clone', '--quiet', '--no-tags', ROOT, folder]);
  const list = ['ls-files', '-z', '--modified', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean)) {
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(folder, file));
    else rmSync(join(folder, file), { force: true });
  }
  // Existing build results need not be built again.
  for (const path of publishedFolders()) {
    const dist = join(ROOT, path, 'dist');
    if (existsSync(dist)) cpSync(dist, join(folder, path, 'dist'), { recursive: true, preserveTimestamps: true });
  }
  git('config', 'user.name', 'Release check');
  git('config', 'user.email', 'release-check@example.org');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'Current state');
}

/** Runs `npm run release`; with `until`, it is killed as soon as its output satisfies the condition. */
async function release(folder, env, until) {
  const child = spawn(process.execPath, ['scripts/release.mjs'], { cwd: folder, env, stdio: 'pipe', detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), HALF_HOUR);
  while (until && child.exitCode === null && !(await until(output))) await pause(50);
  const interrupted = child.exitCode === null && until !== undefined;
  if (interrupted) process.kill(-child.pid, 'SIGKILL');
  const code = await ended;
  clearTimeout(late);
  if (!interrupted && code !== 0) throw new Error(`the release failed:\n${output}`);
  return output;
}

/** Releases with an interruption, and checks that nothing is missing and nothing is done twice. */
async function releaseAll(folder, registry) {
  const { env } = registry;
  const names = publishedFolders().map((path) => manifestOf(path).name);
  const published = async () => (await Promise.all(names.map(registry.metadataOf))).filter(Boolean).length;
  await release(folder, env, async (output) => output.includes('Publishing "') && (await published()) > 0);
  log(`interrupted the release when ${await published()} of ${names.length} packages were published`);
  await release(folder, env);
  log('the same command completed the release');
  const commit = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' });
  const before = commit();
  const third = await release(folder, env);
  if (!third.includes('No unpublished projects') || commit() !== before)
    throw new Error(`the third release was not a no-op:\n${third}`);

  const tags = execFileSync('git', ['tag', '--list'], { cwd: folder, encoding: 'utf8' }).split('\n');
  for (const path of publishedFolders()) {
    const { name, version } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'));
    const metadata = (await registry.metadataOf(name))?.versions?.[version];
    if (!metadata) throw new Error(`${name} ${version} is not in the registry`);
    if (!tags.includes(`${name}@${version}`)) throw new Error(`${name} ${version} has no tag`);
    if (name === '@apistrata/test-cloud' && !tags.includes(`examples/go/v${version}`))
      throw new Error(`the Go module ${version} has no tag`);
    if (!existsSync(join(folder, path, 'CHANGELOG.md'))) throw new Error(`${name} has no changelog`);
    const unresolved = JSON.stringify(metadata).match(/workspace:[^"]*/);
    if (unresolved) throw new Error(`${name} was published with ${unresolved[0]}`);
  }
  log(`all ${names.length} packages, tags and changelogs exist once`);
}

/**
 * Runs `npx` of a package in a folder where nothing is installed. Returns the number and the size of installed
 * packages, and the time.
 */
async function npx(folder, registry, name, version) {
  const { args, packages, megabytes, seconds, files = {}, exit, output, ...serving } = uses[name].npx;
  const clean = cleanEnvironment(folder, await nodeOf(24));
  const env = { ...registry.env, ...clean.env, npm_config_cache: join(folder, 'cache') };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), JSON.stringify(content));
  const begun = performance.now();
  const command = ['--yes', `@apistrata/${name}@${version}`, ...args];
  const run = () => {
    const { status, stdout, stderr } = spawnSync('npx', command, { cwd: folder, env, encoding: 'utf8' });
    if (!output.test(stdout)) throw new Error(`npx @apistrata/${name} printed ${stdout}${stderr}`);
    return status;
  };
  const status = exit === undefined ? await firstStatus('npx', command, { cwd: folder, env, ...serving }) : run();
  const duration = (performance.now() - begun) / 1000;
  const [installed] = readdirSync(join(folder, 'cache/_npx')).map((id) =>
    join(folder, 'cache/_npx', id, 'node_modules'),
  );
  const { packages: tree } = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8'));
  const size = Number(execFileSync('du', ['-sk', installed], { encoding: 'utf8' }).split('\t')[0]) / 1000;
  const count = Object.keys(tree).length;
  const fine = status === (exit ?? 200) && count <= packages && size <= megabytes && duration <= seconds;
  return [
    fine,
    `npx @apistrata/${name} returned ${status} after ${duration.toFixed(1)} s: ${count} packages, ${size.toFixed(1)} MB`,
  ];
}

/** Returns the runtime dependencies whose last release is more than two years old. */
async function stale(registry) {
  const needed = publishedFolders().flatMap((path) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(path);
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  });
  const names = [...new Set(needed)].filter((name) => !name.startsWith('@apistrata/'));
  const oldest = Date.now() - TWO_YEARS;
  const dates = await Promise.all(
    names.map(async (name) => {
      const { created, modified, ...versions } = (await registry.metadataOf(name)).time;
      return [name, Math.max(...Object.values(versions).map((date) => Date.parse(date)))];
    }),
  );
  return dates.filter(([, last]) => last < oldest).map(([name]) => name);
}

const HELP = `npm run release:check -- [options]

Releases all packages to a local registry and installs them in every supported environment. Takes up to two hours.

  --only PACKAGE   only this package, such as quota
  --rows N-M       only these rows, such as 10-27
  --help           this help`;

/** Returns the options of the command line; prints the help and exits if they are wrong or request it. */
function options() {
  const texts = { only: { type: 'string' }, rows: { type: 'string' }, help: { type: 'boolean' } };
  let fault;
  try {
    const { values } = parseArgs({ options: texts });
    if (values.only !== undefined && !NAMES.includes(values.only)) fault = `--only: one of ${NAMES.join(', ')}`;
    else if (values.rows !== undefined && !/^[0-9]+-[0-9]+$/.test(values.rows))
      fault = '--rows: two numbers, such as 10-27';
    else if (!values.help) return values;
  } catch (error) {
    fault = error.message;
  }
  (fault ? console.error : console.log)(fault ? `${fault}\n\n${HELP}` : HELP);
  process.exit(fault ? 2 : 0);
}

const { only, rows: range = '1-999' } = options();
const [first, last] = range.split('-').map(Number);
const folder = mkdtempSync(join(tmpdir(), 'apistrata-release-'));
const registry = await startRegistry(join(folder, 'registry'));
const failures = [];
try {
  log(`a registry listens at ${registry.url}`);
  const clone = join(folder, 'clone');
  cloneOfTree(clone);
  await releaseAll(clone, registry);

  const unknown = NAMES.filter((name) => !uses[name]);
  if (unknown.length > 0) throw new Error(`testing/release/uses.mjs does not contain a use of ${unknown.join(', ')}`);
  const rows = rowsToTest().filter(({ name }) => !only || name === only);
  for (const [index, row] of rows.entries()) {
    if (index + 1 < first || index + 1 > last) continue;
    const path = join(clone, folderOf(row.name));
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const readme = readFileSync(join(path, 'README.md'), 'utf8');
    const project = join(folder, 'projects', `${index}-${row.name}`);
    const place = { folder: project, env: registry.env, version: manifest.version, readme, manifest };
    const what = Object.entries(row).map(([key, value]) => (key === 'name' ? value : `${key} ${value}`));
    const line = `${index + 1}/${rows.length} ${what.join(', ')}`;
    try {
      if (performance.now() - began > TWO_HOURS) throw new Error('the time limit was exceeded before this row');
      await tryOut(row, place);
      log(`ok      ${line}`);
    } catch (error) {
      failures.push(`${line}\n${error.stack}\n${error.cause ?? ''}`);
      log(`FAILED  ${line}: ${error.message.split('\n', 1)[0]}`);
    }
    rmSync(project, { recursive: true, force: true });
  }
  const reportResult = (fine, text) => {
    if (!fine) failures.push(text);
    log(`${fine ? 'ok    ' : 'FAILED'}  ${text}`);
  };
  for (const name of NAMES.filter((name) => uses[name].npx && (!only || name === only))) {
    const { version } = JSON.parse(readFileSync(join(clone, folderOf(name), 'package.json'), 'utf8'));
    reportResult(...(await npx(join(folder, `npx-${name}`), registry, name, version)));
  }
  if (!only) {
    const old = await stale(registry);
    const fresh = old.length === 0 ? 'everything' : `all but ${old.join(', ')}`;
    reportResult(old.length === 0, `${fresh} had a release within two years`);

    const place = join(folder, 'fresh');
    execFileSync('git', ['clone', '--quiet', clone, place]);
    const begun = performance.now();
    const args = ['start', '--', '--db', ':memory:', '--port', '0', '--drain-ms', '0'];
    const serving = { sign: /Compute API (http:\S+)\/v2\.1/, path: '/v2.1/flavors' };
    const status = await firstStatus('npm', args, { cwd: place, env: registry.env, ...serving });
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    const [size] = execFileSync('du', ['-sm', join(place, 'node_modules')], { encoding: 'utf8' }).split('\t');
    reportResult(status === 200, `npm start returned ${status} after ${seconds} s, with ${size} MB installed`);
  }
} finally {
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(`\n${failure}`);
log(failures.length === 0 ? 'all packages were installed and used in every environment' : `${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
