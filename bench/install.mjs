// Installation time for users: the installation of each published package into an empty folder with an empty cache, and
// the first and the second `npm start` of a fresh clone, each with Node 20, 22 and 24, without a compiler.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf, publishedFolders, runsOn } from '../scripts/manifests.mjs';
import { fetchPnpm } from '../scripts/tools.mjs';
import { cleanEnvironment } from '../testing/release/clean-environment.mjs';
import { startRegistry } from '../testing/release/registry.mjs';
import { firstStatus } from '../testing/release/started.mjs';
import { nodeOf, runProgram } from '../testing/release/tools.mjs';

const ROOT = join(import.meta.dirname, '..');
const NODES = [20, 22, 24];
const TIMEOUT_MS = 120_000;
const START_BUDGETS = { 20: 30, 22: 25, 24: 25 };
const SERVING = { sign: /Compute API (http:\S+)\/v2\.1/, path: '/v2.1/flavors' };

async function secondsOf(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** Publishes all packages to the registry, as a release does. */
async function publish(folder, { env }) {
  mkdirSync(folder, { recursive: true });
  const pnpm = await fetchPnpm();
  for (const path of publishedFolders()) {
    const options = { cwd: join(ROOT, path), timeout: TIMEOUT_MS };
    runProgram(process.execPath, [pnpm, 'pack', '--pack-destination', folder], options);
  }
  for (const file of readdirSync(folder))
    runProgram('npm', ['publish', '--provenance=false', join(folder, file)], { cwd: folder, env, timeout: TIMEOUT_MS });
}

/** Installs one package with npm. Returns the seconds, the number of packages, and their size in MB. */
async function install(folder, registry, name, node) {
  const { env } = cleanEnvironment(folder, await nodeOf(node));
  const project = join(folder, 'project');
  mkdirSync(project);
  const options = { cwd: project, env: { ...registry.env, ...env, npm_config_cache: join(folder, 'cache') } };
  const args = ['install', '--no-audit', '--no-fund', name];
  const seconds = await secondsOf(() => runProgram('npm', args, { ...options, timeout: TIMEOUT_MS }));
  const modules = join(project, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const [kilobytes] = execFileSync('du', ['-sk', modules], { encoding: 'utf8' }).split('\t');
  return { seconds, packages: Object.keys(packages).length, megabytes: Number(kilobytes) / 1000 };
}

/** Returns how many seconds the first and the second `npm start` in a fresh clone take until the first response. */
async function measureStarts(folder, registry, node) {
  const { env } = cleanEnvironment(folder, await nodeOf(node));
  const clone = join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const options = { cwd: clone, env: { ...registry.env, ...env, npm_config_cache: join(folder, 'cache') }, ...SERVING };
  const args = ['start', '--', '--db', ':memory:', '--port', '0', '--drain-ms', '0'];
  const start = () => secondsOf(() => firstStatus('npm', args, options));
  return [await start(), await start()];
}

export async function run({ quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-install-'));
  const registry = await startRegistry(join(folder, 'registry'));
  const rows = [];
  const row = (what, ours, unit, budget) => rows.push({ what, ours, unit, budget });
  const nodes = quick ? [24] : NODES;
  try {
    await publish(join(folder, 'packages'), registry);
    const names = publishedFolders().map((path) => manifestOf(path).name);
    for (const name of quick ? ['@apistrata/request-id'] : names) {
      for (const node of nodes.filter((each) => runsOn(name.split('/')[1], each))) {
        const place = join(folder, `${name.split('/')[1]}-${node}`);
        const { seconds, packages, megabytes } = await install(place, registry, name, node);
        row(`npm install ${name}, Node ${node}`, seconds, 's');
        row(`npm install ${name}, Node ${node}: packages`, packages, '');
        row(`npm install ${name}, Node ${node}: size`, megabytes, 'MB');
        rmSync(place, { recursive: true, force: true });
      }
    }
    for (const node of nodes) {
      const [first, second] = await measureStarts(join(folder, `start-${node}`), registry, node);
      row(`first npm start, Node ${node}`, first, 's', `<= ${START_BUDGETS[node]} s`);
      row(`second npm start, Node ${node}`, second, 's', '<= 1.5 s');
    }
    return rows;
  } finally {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
