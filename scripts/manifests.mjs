// `npm run manifests`: writes the `package.json` fields that all published packages share. With `--check`, it only
// reports manifests that differ.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SERVER } from './start-keys.mjs';
import { NEEDED_NODE } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');
const fileOf = (folder) => resolve(ROOT, folder, 'package.json');

/** Returns the parsed `package.json` of a folder, which may be relative to the root. Default: the root. */
export function manifestOf(folder = '') {
  return JSON.parse(readFileSync(fileOf(folder), 'utf8'));
}

/** Returns the folders of all packages that are published. */
export function publishedFolders() {
  const folders = [SERVER, ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)];
  return folders.filter((folder) => existsSync(fileOf(folder)) && !manifestOf(folder).private).sort();
}

/**
 * Packages that do not open a database by themselves. They also run on Node 20, and are published as CommonJS with ES
 * modules that re-export it (`commonjs-form.mjs`), for Jest, TypeScript projects that compile to CommonJS, and
 * `moduleResolution: node10`. To add a package, add it here.
 */
export const SMALL_PACKAGES = [
  'packages/healthcheck',
  'packages/microversion',
  'packages/microversion-router',
  'packages/quota',
  'packages/request-id',
];

/** Returns whether the package in a folder (`packages/quota`) also supports CommonJS. */
export function supportsCommonJs(folder) {
  return SMALL_PACKAGES.includes(folder);
}

/**
 * Packages whose code is published minified, so that the tarball stays within its budget. The names of functions and
 * classes remain, because stack traces contain them.
 */
const MINIFIED_PACKAGES = ['packages/healthcheck'];

/** Returns whether the code of the package in a folder is published minified. */
export function isMinified(folder) {
  return MINIFIED_PACKAGES.includes(folder);
}

/**
 * Programs that are published as one bundle with their dependencies (`bundle-program.mjs`), so that `npx` installs few
 * other packages. The values are options of `bundleProgram()`.
 */
const SELF_CONTAINED_PROGRAMS = {
  [SERVER]: {},
  // The test cloud opens no PostgreSQL database and no policy file, and has its own request log and CORS headers.
  'packages/test-cloud': { unused: ['cors', 'pg', 'pino-http', 'yaml'], small: true },
};

/** Returns the bundle options of a package that is published with its dependencies; undefined for other packages. */
export function bundleOptionsOf(folder) {
  return SELF_CONTAINED_PROGRAMS[folder];
}

/** Returns the export conditions of an entry point: its source file in the workspace, its compiled file otherwise. */
function entryPoint(path) {
  if (path === './package.json') return path;
  const file = path === '.' ? 'index' : `${path.slice(2)}/index`;
  return { '@apistrata/source': `./src/${file}.ts`, types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` };
}

function enginesOf(folder) {
  return { node: SMALL_PACKAGES.includes(folder) ? '>=20.19' : `>=${NEEDED_NODE.join('.')}` };
}

/** Returns the folder of a published package by its name without the scope. */
export function folderOf(name) {
  return publishedFolders().find((folder) => manifestOf(folder).name === `@apistrata/${name}`);
}

/** Returns whether a published package runs on the newest Node of a major version. */
export function runsOn(name, major) {
  return SMALL_PACKAGES.includes(folderOf(name)) || major >= NEEDED_NODE[0];
}

/** Returns a manifest with the shared fields added. The package's own fields are unchanged. */
export function addSharedFields(manifest, folder) {
  const { license, author, homepage, repository, bugs } = manifestOf();
  const { name, version, description, keywords, files = [], exports = { '.': {} }, scripts } = manifest;
  const shared = {
    license,
    author,
    homepage: `${homepage}/tree/main/${folder}#readme`,
    repository: { ...repository, directory: folder },
    bugs,
    type: 'module',
    sideEffects: false,
    engines: enginesOf(folder),
    // Sources and changelogs are not published: published code is readable, and its declarations contain the
    // docstrings.
    files: ['dist', ...files.filter((file) => file !== 'dist')],
    exports: Object.fromEntries(Object.keys(exports).map((path) => [path, entryPoint(path)])),
    // In the workspace, modules are separate files, as the compiler writes them; `prepack` bundles them.
    publishConfig: { access: 'public', provenance: true, directory: 'published', linkDirectory: false },
    scripts: { prepack: 'node ../../scripts/prepack.mjs', ...scripts },
  };
  // The first spread of `shared` determines the order of the fields, the second their values.
  return { name, version, description, keywords, ...shared, ...manifest, ...shared };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const check = process.argv.includes('--check');
  for (const folder of publishedFolders()) {
    const manifest = manifestOf(folder);
    const text = JSON.stringify(addSharedFields(manifest, folder), null, 2);
    if (text === JSON.stringify(manifest, null, 2)) continue;
    if (check) {
      console.error(`${folder}/package.json lacks shared fields or differs in them: run \`npm run manifests\`.`);
      process.exitCode = 1;
    } else {
      writeFileSync(fileOf(folder), `${text}\n`);
      console.log(`${folder}/package.json: written`);
    }
  }
}
