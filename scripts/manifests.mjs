// `npm run manifests`: writes what the manifests of all published packages have in common, so that it is said once.
// With `--check` it only says which of them are not in that form.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NEEDED_NODE } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');
const fileOf = (folder) => join(ROOT, folder, 'package.json');

/** The manifest of a folder below the root; of the root itself without one. */
export function manifestOf(folder = '') {
  return JSON.parse(readFileSync(fileOf(folder), 'utf8'));
}

/** The folders of all packages that are published. */
export function publishedFolders() {
  const folders = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`);
  return folders.filter((folder) => existsSync(fileOf(folder)) && !manifestOf(folder).private).sort();
}

/**
 * Packages that are published as CommonJS with ES modules around it (`commonjs-form.mjs`), for Jest, CommonJS projects of
 * TypeScript and `moduleResolution: node10`. A package joins by its line here.
 */
const COMMONJS = ['packages/healthcheck', 'packages/request-id'];

/** Returns whether the package in a folder (`packages/quota`) is published for CommonJS, too. */
export function servesCommonJs(folder) {
  return COMMONJS.includes(folder);
}

/** Where an entry point is found: its source for the workspace itself, what is built from it for everybody else. */
function entryPoint(path) {
  if (path === './package.json') return path;
  const file = path === '.' ? 'index' : `${path.slice(2)}/index`;
  return { '@apistrata/source': `./src/${file}.ts`, types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` };
}

// Sources go along, for source maps and declaration maps lead to them.
const FILES = ['dist', '!dist/.tsbuildinfo', 'src', '!src/**/*.test.ts', 'CHANGELOG.md'];

/** The packages that run on Node 20 as well: none of them opens a database by itself. */
const SMALL = ['packages/healthcheck', 'packages/microversion', 'packages/quota', 'packages/request-id'];

function enginesOf(folder) {
  return { node: SMALL.includes(folder) ? '>=20.19' : `>=${NEEDED_NODE.join('.')}` };
}

/** The manifest as it has to be: its own fields as they are, those that all packages share in one form and order. */
export function completed(manifest, folder) {
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
    files: [...FILES, ...files.filter((file) => !FILES.includes(file))],
    exports: Object.fromEntries(Object.keys(exports).map((path) => [path, entryPoint(path)])),
    // In the workspace modules stay apart, as the compiler leaves them; `prepack` puts them together.
    publishConfig: { access: 'public', provenance: true, directory: 'published', linkDirectory: false },
    scripts: { prepack: 'node ../../scripts/prepack.mjs', ...scripts },
  };
  // The first spreading gives the order, the second the values.
  return { name, version, description, keywords, ...shared, ...manifest, ...shared };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const check = process.argv.includes('--check');
  for (const folder of publishedFolders()) {
    const manifest = manifestOf(folder);
    const text = JSON.stringify(completed(manifest, folder), null, 2);
    if (text === JSON.stringify(manifest, null, 2)) continue;
    if (check) {
      console.error(`${folder}/package.json is not in the common form; \`npm run manifests\` writes it.`);
      process.exitCode = 1;
    } else {
      writeFileSync(fileOf(folder), `${text}\n`);
      console.log(`${folder}/package.json: written`);
    }
  }
}
