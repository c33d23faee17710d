// Copies files that bundled modules read at run time into the bundle's folder `files`, with one folder per package.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { minifySync } from 'rolldown/utils';

/** The files and folders to copy, by package: the path in the package, and the path in the copy. */
const COPIED_FILES = {
  '@apistrata/explorer': { assets: 'assets' },
  '@apistrata/ui': { assets: 'assets' },
  '@apistrata/test-cloud': { 'src/page/browser': 'src/page/browser' },
  minisearch: { 'dist/es/index.js': 'dist/es/index.js' },
  '@xterm/xterm': { 'lib/xterm.mjs': 'lib/xterm.mjs', 'css/xterm.css': 'css/xterm.css', LICENSE: 'LICENSE' },
  '@novnc/novnc': { core: 'core', vendor: 'vendor', 'LICENSE.txt': 'LICENSE.txt' },
};

/** Returns the folder and name of the package that contains a file. */
function packageOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (name) return { folder, name };
    } catch {
      // The folder does not contain a package.json.
    }
  }
  throw new Error(`${file} does not belong to a package`);
}

const FILE_URL_PATTERN = /\bnew URL\(([^()]+), import\.meta\.url\)/g;
const RESOLVE_CALL_PATTERN = /\bcreateRequire\(import\.meta\.url\)\.resolve\('([^']+)'\)/g;

/** Removes comments and white space from the browser modules in a folder. */
function minifyModules(folder) {
  for (const name of readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.js'))) {
    const file = join(folder, name);
    const { code, errors } = minifySync(file, readFileSync(file, 'utf8'), { module: true });
    if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
    writeFileSync(file, code);
  }
}

/**
 * Returns a plugin that replaces file URLs in modules with the URLs of the copies, and a function that copies the files
 * into the bundle's folder. Chunks with modules that use files must not be in a subfolder.
 */
export function bundledFiles() {
  const usedPackages = new Map();
  /** Returns the URL of a file's copy, relative to the bundle's folder. */
  function copyUrlOf(file) {
    const { folder, name } = packageOf(file);
    if (!COPIED_FILES[name])
      throw new Error(`${file} reads files at run time, which scripts/bundled-files.mjs does not list`);
    usedPackages.set(name, folder);
    return `./${['files', name, ...relative(folder, file).split(sep)].join('/')}`;
  }
  const plugin = {
    name: 'bundled-files',
    transform: {
      filter: { code: /\bimport\.meta\.url\b/ },
      handler(code, id) {
        const transformedCode = code
          .replaceAll(FILE_URL_PATTERN, (_, path) => `new URL(${path}, new URL('${copyUrlOf(id)}', import.meta.url))`)
          .replaceAll(RESOLVE_CALL_PATTERN, (_, name) => {
            const address = copyUrlOf(createRequire(id).resolve(name));
            return `process.getBuiltinModule('node:url').fileURLToPath(new URL('${address}', import.meta.url))`;
          });
        return transformedCode === code ? undefined : { code: transformedCode, map: null };
      },
    },
  };
  function copyFiles(target) {
    for (const [name, folder] of usedPackages) {
      const copies = join(target, 'files', name);
      for (const [from, to] of Object.entries(COPIED_FILES[name]))
        cpSync(join(folder, from), join(copies, to), { recursive: true });
      // Third-party modules are copied as they were published.
      if (name.startsWith('@apistrata/')) minifyModules(copies);
    }
  }
  return { plugin, copyFiles };
}
