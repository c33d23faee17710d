// `npm start`: installs, builds the server and what it needs, and runs it. What is there already is not done again.
// Nothing newer than Node 14 may stand here: an old Node has to get as far as the sentence that says so.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this program needs 20.19 or newer. Install one (nodejs.org, nvm, fnm) and start again.`,
  );
  process.exit(1);
}

const { continueWith, fetchNode, fetchPnpm, isCurrentNode } = await import('./tools.mjs');
if (!isCurrentNode()) {
  const node = await fetchNode();
  console.log(`Node ${process.versions.node} is too old for the server: it runs with ${node}.`);
  await continueWith(node, process.argv.slice(1));
  process.exit();
}

const { spawnSync } = await import('node:child_process');
const { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = await import('node:fs');
const { join } = await import('node:path');
const { pathToFileURL } = await import('node:url');
const { buildKey, installKey, ROOT, SERVER } = await import('./start-keys.mjs');

const STAMP = join(ROOT, 'node_modules', '.cache', 'apistrata-start.json');
const MAIN = join(ROOT, SERVER, 'dist', 'main.js');
const BUNDLE = join(ROOT, SERVER, 'dist', 'bundle', 'main.js');

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return {};
  }
}

/** Whether everything is installed, as `npm test` does it. pnpm keeps what it was told. */
function installedForDevelopment() {
  try {
    return JSON.parse(readFileSync(join(ROOT, 'node_modules', '.modules.yaml'), 'utf8')).included.devDependencies;
  } catch {
    return false;
  }
}

function run(what, cure, command, args) {
  console.log(`${what} ...`);
  const began = Date.now();
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(`${what}: failed${error ? ` (${error.message})` : ''}. ${cure}`);
    process.exit(1);
  }
  console.log(`${what}: done in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

const stamp = readStamp();
const install = installKey();
const build = buildKey(install);
if (stamp.install !== install) {
  const quiet = ['--reporter=append-only', '--prefer-offline', '--frozen-lockfile'];
  // What tests and checks need is left out, unless it is there: then it stays.
  const { name: serverName } = JSON.parse(readFileSync(join(ROOT, SERVER, 'package.json'), 'utf8'));
  const lean = installedForDevelopment()
    ? []
    : ['--prod', ...['.', `${serverName}...`].flatMap((name) => ['--filter-prod', name])];
  run(
    'Installing (the first time takes a minute or two)',
    'Look above for what npm said; a registry has to be reachable the first time.',
    process.execPath,
    [await fetchPnpm(), 'install', ...lean, ...quiet],
  );
}
if (stamp.build !== build || !existsSync(MAIN)) {
  run('Building the server', 'Look above for what the compiler said.', process.execPath, [
    join('scripts', 'transpile.mjs'),
  ]);
  // A start loads a few files then instead of a thousand. Where the bundler does not run, the thousand do as well.
  rmSync(join(BUNDLE, '..'), { recursive: true, force: true });
  spawnSync(process.execPath, [join('scripts', 'bundle-server.mjs')], { cwd: ROOT, stdio: 'ignore' });
  mkdirSync(join(STAMP, '..'), { recursive: true });
  writeFileSync(STAMP, JSON.stringify({ install, build }));
}
await import(pathToFileURL(existsSync(BUNDLE) ? BUNDLE : MAIN));
