// `npm start`: installs what the server needs to run, bundles it, and runs it. Steps whose results are up to date are
// skipped. Only Node 14 syntax is allowed here: an old Node must be able to print the error below.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this program needs 20.19 or newer. Install a newer version (nodejs.org, nvm, fnm) and start again.`,
  );
  process.exit(1);
}

const { existsSync, mkdirSync, readFileSync, writeFileSync } = await import('node:fs');
const { dirname, join } = await import('node:path');
const { pathToFileURL } = await import('node:url');
const { buildKey, installKey, ROOT, SERVER } = await import('./start-keys.mjs');
const { runWithNode, fetchedNodeName, fetchNode, fetchPnpm, isCurrentNode, NEEDED_NODE } = await import('./tools.mjs');

const CACHE = join(ROOT, 'node_modules', '.cache', 'apistrata');
const STAMP_FILE = join(CACHE, 'start.json');
const LOG = join(CACHE, 'start.log');
const BUNDLE_FILE = join(ROOT, SERVER, 'dist', 'bundle', 'main.js');

const REGISTRY_REMEDY = 'Check that the npm registry is reachable (`npm ping`), then run `npm start` again.';
const BUNDLE_REMEDY = 'If you changed the sources, fix the errors in the log; otherwise report this with the log.';

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Returns the pnpm arguments that install what the server needs, or all packages if they are already installed. */
function installArguments() {
  const pnpmArgs = ['install', '--reporter=append-only', '--prefer-offline', '--frozen-lockfile', '--ignore-scripts'];
  // The release age of each package was checked when the lockfile was written. Checking it again would take one request
  // per package.
  pnpmArgs.push('--config.trust-lockfile=true');
  const { included } = readJson(join(ROOT, 'node_modules', '.modules.yaml'));
  if (included?.devDependencies) return pnpmArgs;
  const { name } = readJson(join(ROOT, SERVER, 'package.json'));
  return [...pnpmArgs, '--prod', '--filter-prod', '.', '--filter-prod', `${name}...`];
}

/** Runs the steps whose results are out of date. Returns the path of the Node executable that runs the server. */
async function prepare() {
  const previousKeys = readJson(STAMP_FILE);
  const keys = { install: installKey() };
  keys.build = buildKey(keys.install);
  const isInstallNeeded = previousKeys.install !== keys.install;
  const isBuildNeeded = previousKeys.build !== keys.build || !existsSync(BUNDLE_FILE);
  let node = isCurrentNode() ? process.execPath : await fetchNode({ fetch: false });
  if (node && !isInstallNeeded && !isBuildNeeded) return node;

  const { startProgress } = await import('./progress.mjs');
  const progress = startProgress({
    log: LOG,
    steps: (node ? 0 : 1) + (isInstallNeeded ? 2 : 0) + (isBuildNeeded ? 1 : 0),
  });
  async function getNode() {
    if (!node)
      node = await progress.step(`Fetching ${fetchedNodeName()}`, REGISTRY_REMEDY, () => fetchNode({ onFetch() {} }));
  }
  async function install() {
    if (!isInstallNeeded) return;
    const pnpm = await progress.step('Fetching pnpm', REGISTRY_REMEDY, () => fetchPnpm({ onFetch() {} }));
    await progress.step('Installing packages', REGISTRY_REMEDY, (show) => {
      const onLine = (line) => {
        const [, resolved, reused, downloaded] =
          /resolved (\d+), reused (\d+), downloaded (\d+)/.exec(line)?.map(Number) ?? [];
        if (resolved) show(`${reused + downloaded} of ${resolved}`);
      };
      return progress.run(process.execPath, [pnpm, ...installArguments()], { cwd: ROOT, onLine });
    });
  }
  async function build() {
    if (!isBuildNeeded) return;
    const args = [join('scripts', 'bundle-server.mjs')];
    await progress.step('Bundling the server', BUNDLE_REMEDY, () =>
      progress.run(process.execPath, args, { cwd: ROOT }),
    );
  }

  if (!node)
    console.log(
      `Node ${process.versions.node} is older than ${NEEDED_NODE.join('.')}: the server runs with ${fetchedNodeName()}.`,
    );
  try {
    // All steps end before an error is shown, so that no program continues in the background.
    const results = await Promise.allSettled([getNode(), install().then(build)]);
    const failure = results.find(({ status }) => status === 'rejected');
    if (failure) throw failure.reason;
  } finally {
    await progress.end();
  }
  mkdirSync(dirname(STAMP_FILE), { recursive: true });
  writeFileSync(STAMP_FILE, JSON.stringify(keys));
  return node;
}

try {
  const node = await prepare();
  if (node === process.execPath) await import(pathToFileURL(BUNDLE_FILE));
  else await runWithNode(node, [BUNDLE_FILE, ...process.argv.slice(2)]);
} catch (error) {
  if (!error.remedy) throw error;
  console.error([error.message, error.remedy, ...(error.log ? [`The log: ${error.log}`] : [])].join('\n'));
  process.exit(1);
}
