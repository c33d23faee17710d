// `node scripts/install-server.mjs FOLDER`: the reference server with all it needs to run, and nothing else, in a folder of
// its own that nobody has to write to. For images of containers and for machines: see docs/operating.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT, SERVER } from './start-keys.mjs';
import { fetchPnpm, isCurrentNode, NEEDED_NODE } from './tools.mjs';

const [folder] = process.argv.slice(2);
if (!folder || (existsSync(folder) && readdirSync(folder).length > 0)) {
  console.error(
    'install-server.mjs needs a FOLDER that is empty or not there: node scripts/install-server.mjs /opt/apistrata',
  );
  process.exit(2);
}
const target = resolve(folder);
const { name } = JSON.parse(readFileSync(join(ROOT, SERVER, 'package.json'), 'utf8'));
if (!isCurrentNode()) {
  console.error(`install-server.mjs needs Node ${NEEDED_NODE.join('.')} or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

function run(what, command, args) {
  console.log(`${what} ...`);
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`${what}: failed${error ? ` (${error.message})` : ''}. Look above for what was said.`);
  process.exit(1);
}
const pnpmModule = await fetchPnpm();
const pnpm = (what, ...args) =>
  run(what, process.execPath, [pnpmModule, ...args, '--prefer-offline', '--ignore-scripts']);

if (!existsSync(join(ROOT, 'node_modules', 'rolldown')))
  pnpm('Installing', 'install', '--frozen-lockfile', '--prod', '--filter-prod', '.', '--filter-prod', `${name}...`);
run('Bundling', process.execPath, [join('scripts', 'bundle-server.mjs')]);
pnpm('Putting together', `--filter=${name}`, 'deploy', '--prod', '--legacy', target);

for (const part of ['src', 'test', 'tsconfig.json']) rmSync(join(target, part), { recursive: true, force: true });
// Of the program itself, the bundle is enough.
renameSync(join(target, 'dist', 'bundle'), join(target, 'bundle'));
rmSync(join(target, 'dist'), { recursive: true });
renameSync(join(target, 'bundle'), join(target, 'dist'));
console.log(`Done: node ${join(target, 'dist', 'main.js')} --help`);
