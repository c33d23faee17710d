// Writes the additional files of a package that supports CommonJS and ES modules. `dist/cjs` contains the only copy of
// the code and declarations, and the ES modules re-export it. State and classes therefore exist once, even if a program
// and its tests load the package in different formats.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The folder in `dist` with the CommonJS modules and their declarations. Its `package.json` sets the module format. */
export const COMMONJS_FOLDER = 'cjs';

const moduleAt = (path) => (path === '.' ? 'index' : `${path.slice(2)}/index`);

/** Returns the `package.json` fields by which Node, Jest, bundlers and TypeScript find CommonJS or ES modules. */
export function commonjsFields({ exports }) {
  const entries = Object.keys(exports).filter((path) => path !== './package.json');
  const filesOf = (folder, path) => {
    const file = `./dist/${folder}${moduleAt(path)}`;
    return { types: `${file}.d.ts`, default: `${file}.js` };
  };
  const conditions = (path) => ({ import: filesOf('', path), require: filesOf(`${COMMONJS_FOLDER}/`, path) });
  const { types, default: main } = filesOf(`${COMMONJS_FOLDER}/`, '.');
  const subpaths = entries.filter((path) => path !== '.');
  const typePaths = subpaths.map((path) => [path.slice(2), [filesOf(`${COMMONJS_FOLDER}/`, path).types.slice(2)]]);
  return {
    main,
    types,
    // `moduleResolution: node10` does not read `exports`.
    ...(subpaths.length > 0 && { typesVersions: { '*': Object.fromEntries(typePaths) } }),
    exports: { ...Object.fromEntries(entries.map((path) => [path, conditions(path)])), ...manifestExport(exports) },
  };
}

function manifestExport(exports) {
  return exports['./package.json'] ? { './package.json': exports['./package.json'] } : {};
}

/**
 * Completes `dist/cjs`, and writes the ES modules that re-export it.
 * @param chunks the chunks that rolldown has written to `dist/cjs`
 */
export function writeEsModules(dist, chunks) {
  writeFileSync(join(dist, COMMONJS_FOLDER, 'package.json'), '{ "type": "commonjs" }\n');
  for (const { isEntry, fileName, exports } of chunks) {
    if (!isEntry) continue;
    const file = join(dist, fileName);
    const address = relative(dirname(file), join(dist, COMMONJS_FOLDER, fileName)).replaceAll('\\', '/');
    const from = address.startsWith('.') ? address : `./${address}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `export { ${[...exports].sort().join(', ')} } from '${from}';\n`);
    writeFileSync(file.replace(/\.js$/, '.d.ts'), `export * from '${from}';\n`);
  }
}
