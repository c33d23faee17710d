// `npm run release:check`: releases all packages to a registry of its own, from a clone of what stands here, and installs
// each of them as strangers do. Nothing of it leaves this machine or stays on it but programs in node_modules/.cache.
// `--only quota` tries one package, `--rows 10-27` those rows. It ends after two hours at the latest.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { manifestOf, publishedFolders } from '../../scripts/manifests.mjs';
import { pnpmFolder } from '../../scripts/tools.mjs';
import { pairs } from './pairs.mjs';
import { tryOut } from './projects.mjs';
import { startRegistry } from './registry.mjs';
import { nodeFolder } from './tools.mjs';
import { uses } from './uses.mjs';

const ROOT = join(import.meta.dirname, '../..');
const HALF_HOUR = 1_800_000;
const TWO_HOURS = 7_200_000;
const TWO_YEARS = 2 * 365 * 24 * 3_600_000;

const MATRIX = {
  node: [20, 22, 24],
  express: ['4', '5', 'none'],
  manager: ['npm', 'pnpm'],
  typescript: [5, 6, 7],
  modules: ['esm', 'cjs'],
};

const began = performance.now();
const say = (text) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);

/** A clone of the working tree, with what is not committed yet, in one commit of its own. */
function cloneOfTree(folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  execFileSync('git', ['clone', '--quiet', '--no-tags', ROOT, folder]);
  const list = ['ls-files', '-z', '--modified', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean)) {
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(folder, file));
    else rmSync(join(folder, file), { force: true });
  }
  // What is built already need not be built again.
  for (const path of publishedFolders()) {
    const dist = join(ROOT, path, 'dist');
    if (existsSync(dist)) cpSync(dist, join(folder, path, 'dist'), { recursive: true, preserveTimestamps: true });
  }
  git('config', 'user.name', 'Release check');
  git('config', 'user.email', 'release-check@example.org');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'As it stands');
}

/** Runs `npm run release`; with `until`, it is killed as soon as that comes true of its output. */
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

/** Releases with an interruption and holds that nothing is missing and nothing is done twice. */
async function releaseAll(folder, registry) {
  const { env } = registry;
  const names = publishedFolders().map((path) => manifestOf(path).name);
  const published = async () => (await Promise.all(names.map(registry.look))).filter(Boolean).length;
  await release(folder, env, async (output) => output.includes('Publishing "') && (await published()) > 0);
  say(`interrupted the release when ${await published()} of ${names.length} packages were there`);
  await release(folder, env);
  say('the same command went on');
  const commit = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' });
  const before = commit();
  const third = await release(folder, env);
  if (!third.includes('No unpublished projects') || commit() !== before) throw new Error(`done twice:\n${third}`);

  const tags = execFileSync('git', ['tag', '--list'], { cwd: folder, encoding: 'utf8' }).split('\n');
  for (const path of publishedFolders()) {
    const { name, version } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'));
    const there = (await registry.look(name))?.versions?.[version];
    if (!there) throw new Error(`${name} ${version} is not in the registry`);
    if (!tags.includes(`${name}@${version}`)) throw new Error(`${name} ${version} has no tag`);
    if (!existsSync(join(folder, path, 'CHANGELOG.md'))) throw new Error(`${name} has no changelog`);
    const left = JSON.stringify(there).match(/workspace:[^"]*/);
    if (left) throw new Error(`${name} was published with ${left[0]}`);
  }
  say(`all ${names.length} packages, tags and changelogs are there once`);
}

/** The test cloud behind one command, in a folder where nothing is installed. */
async function commandAnswers(folder, env, version) {
  const path = [await nodeFolder(24), env.PATH].join(delimiter);
  const args = ['--yes', `@apistrata/test-cloud@${version}`, '--port', '0'];
  const options = { cwd: folder, env: { ...env, PATH: path, npm_config_ignore_scripts: 'true' }, detached: true };
  const child = spawn('npx', args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    let output = '';
    for await (const text of child.stdout) {
      output += text;
      const [, url] = /OS_AUTH_URL=(\S+)\n/.exec(output) ?? [];
      if (url) return (await fetch(url)).status;
    }
    throw new Error(`the command ended: ${output}`);
  } finally {
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  }
}

/** `npm start` where nothing is installed or built, until the server answers. */
async function startAnswers(folder, env) {
  const child = spawn('npm', ['start', '--', '--db', ':memory:', '--port', '0'], { cwd: folder, env, detached: true });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    let output = '';
    for await (const text of child.stdout) {
      output += text;
      const [, url] = /Compute API (http\S+)/.exec(output) ?? [];
      if (url) return (await fetch(`${url}/flavors`, { headers: { 'X-Auth-Token': 'ada:demo' } })).status;
    }
    throw new Error(`it ended: ${output}`);
  } finally {
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  }
}

/** Names of what our packages need to run whose last release is more than two years old. */
async function stale(registry) {
  const needed = publishedFolders().flatMap((path) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(path);
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  });
  const names = [...new Set(needed)].filter((name) => !name.startsWith('@apistrata/'));
  const oldest = Date.now() - TWO_YEARS;
  const dates = await Promise.all(
    names.map(async (name) => {
      const { created, modified, ...versions } = (await registry.look(name)).time;
      return [name, Math.max(...Object.values(versions).map((date) => Date.parse(date)))];
    }),
  );
  return dates.filter(([, last]) => last < oldest).map(([name]) => name);
}

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const only = option('--only');
const [first, last] = (option('--rows') ?? '1-999').split('-').map(Number);
const folder = mkdtempSync(join(tmpdir(), 'apistrata-release-'));
const registry = await startRegistry(join(folder, 'registry'));
const failures = [];
try {
  say(`a registry listens at ${registry.url}`);
  const clone = join(folder, 'clone');
  cloneOfTree(clone);
  await releaseAll(clone, registry);

  const names = publishedFolders().map((path) => path.split('/')[1]);
  const unknown = names.filter((name) => !uses[name]);
  if (unknown.length > 0) throw new Error(`testing/release/uses.mjs does not say how to use ${unknown.join(', ')}`);
  const pnpm = await pnpmFolder();
  const rows = pairs({ name: names, ...MATRIX }).filter(({ name }) => !only || name === only);
  for (const [index, row] of rows.entries()) {
    if (index + 1 < first || index + 1 > last) continue;
    const path = join(clone, 'packages', row.name);
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const readme = readFileSync(join(path, 'README.md'), 'utf8');
    const project = join(folder, 'projects', `${index}-${row.name}`);
    const place = { folder: project, env: registry.env, version: manifest.version, readme, manifest };
    const what = Object.entries(row).map(([key, value]) => (key === 'name' ? value : `${key} ${value}`));
    const line = `${index + 1}/${rows.length} ${what.join(', ')}`;
    try {
      if (performance.now() - began > TWO_HOURS) throw new Error('no time was left');
      await tryOut(row, { ...place, pnpm: join(pnpm, 'pnpm') });
      say(`ok      ${line}`);
    } catch (error) {
      failures.push(`${line}\n${error.stack}\n${error.cause ?? ''}`);
      say(`FAILED  ${line}: ${error.message.split('\n', 1)[0]}`);
    }
    rmSync(project, { recursive: true, force: true });
  }
  const judge = (fine, text) => {
    if (!fine) failures.push(text);
    say(`${fine ? 'ok    ' : 'FAILED'}  ${text}`);
  };
  if (!only || only === 'test-cloud') {
    const { version } = JSON.parse(readFileSync(join(clone, 'packages/test-cloud/package.json'), 'utf8'));
    const status = await commandAnswers(dirname(clone), registry.env, version);
    judge(status === 200, `npx @apistrata/test-cloud answered ${status}`);
  }
  if (!only) {
    const old = await stale(registry);
    const fresh = old.length === 0 ? 'everything' : `all but ${old.join(', ')}`;
    judge(old.length === 0, `${fresh} had a release within two years`);

    const place = join(folder, 'fresh');
    execFileSync('git', ['clone', '--quiet', clone, place]);
    const begun = performance.now();
    const status = await startAnswers(place, registry.env);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    const [size] = execFileSync('du', ['-sm', join(place, 'node_modules')], { encoding: 'utf8' }).split('\t');
    judge(status === 200, `npm start answered ${status} after ${seconds} s, with ${size} MB installed`);
  }
} finally {
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(`\n${failure}`);
say(failures.length === 0 ? 'installed and used by strangers, everywhere' : `${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
