// Writes packages in the form in which they are published. Modules and declarations are bundled into a few files,
// because importing many files is slow. Modules are bundled from the sources, and declarations from the output of
// `npm run build`.
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleProgram, INSTALLED_PACKAGES } from './bundle-program.mjs';
import { COMMONJS_FOLDER, commonjsFields, writeEsModules } from './commonjs-form.mjs';
import { bundleOptionsOf, isMinified, manifestOf, publishedFolders, supportsCommonJs } from './manifests.mjs';
import { ownAddresses } from './own-addresses.mjs';

const ROOT = join(import.meta.dirname, '..');

/** In READMEs, comments contain code that only the tests of examples need. */
const HTML_COMMENT = /^<!--[\s\S]*?-->\n/gm;

const moduleOf = (path) => path.replace(/^\.\/(src|dist)\//, '').replace(/\.[jt]s$/, '');

const keepNames = { class: true, function: true };

/** Names, statements and lines remain, so that stack traces and debuggers show the code as it was written. */
const READABLE_CODE = {
  compress: { sequences: false, joinVars: false, keepNames },
  mangle: false,
  codegen: { removeWhitespace: false },
};

/** Stack traces contain the names of functions and classes, but only one line number. */
const SHORT_CODE = { compress: { keepNames }, mangle: { keepNames }, codegen: { removeWhitespace: true } };

/** Returns the modules that other packages can import, as paths in `dist` without an extension. */
const entryPointsOf = ({ exports }) =>
  Object.values(exports).flatMap((entry) => (entry['@apistrata/source'] ? [moduleOf(entry['@apistrata/source'])] : []));

/** Returns the source files of modules that others can import or run, by path in `dist` without an extension. */
function entriesOf(manifest, folder) {
  const modules = [...entryPointsOf(manifest), ...Object.values(manifest.bin ?? {}).map(moduleOf)];
  return Object.fromEntries(modules.map((module) => [module, join(folder, 'src', `${module}.ts`)]));
}

/** Returns the names of a package and of the packages that are installed with it. */
function dependencyNames({ name, dependencies, optionalDependencies, peerDependencies }) {
  return Object.keys({ [name]: '', ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/**
 * Returns whether a module is in an installed package. Installed packages are not bundled, so that importers share
 * classes.
 */
const isInstalledWith = (manifest) => (id) =>
  dependencyNames(manifest).some((name) => id === name || id.startsWith(`${name}/`));

async function writeModules(folder, target, manifest) {
  const dist = join(target, 'dist');
  const program = bundleOptionsOf(folder);
  if (program) return bundleProgram(entriesOf(manifest, join(ROOT, folder)), dist, program);
  const bundled = await rolldown({
    input: entriesOf(manifest, join(ROOT, folder)),
    platform: 'node',
    // Warnings are errors here, but warnings about slow plugins depend on the load of the machine.
    checks: { pluginTimings: false },
    external: isInstalledWith(manifest),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [ownAddresses()],
    // Debug information contains paths of source files, which the package does not contain.
    experimental: { attachDebugInfo: 'none' },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const commonjs = supportsCommonJs(folder);
  const { output } = await bundled.write({
    dir: join(dist, commonjs ? COMMONJS_FOLDER : ''),
    format: commonjs ? 'cjs' : 'esm',
    // By default, Jest runs CommonJS in a context that cannot import ES modules.
    dynamicImportInCjs: false,
    chunkFileNames: 'chunks/[name].js',
    comments: { annotation: true, legal: true, jsdoc: false },
    minify: isMinified(folder) ? SHORT_CODE : READABLE_CODE,
  });
  await bundled.close();
  if (commonjs) writeEsModules(dist, output);
}

async function writeTypes(folder, target, manifest) {
  const entryPoints = entryPointsOf(manifest);
  if (entryPoints.length === 0) return;
  // Only the full installation, which building and publishing packages requires, contains the compiler.
  const { writeDeclarations } = await import('./declarations.mjs');
  const built = entryPoints.map((module) => [`${module}.d`, join(ROOT, folder, 'dist', `${module}.d.ts`)]);
  const program = bundleOptionsOf(folder) !== undefined;
  await writeDeclarations(Object.fromEntries(built), {
    dir: join(target, 'dist', supportsCommonJs(folder) ? COMMONJS_FOLDER : ''),
    external: program ? INSTALLED_PACKAGES : isInstalledWith(manifest),
    selfContained: program,
  });
}

/** Returns the manifest without fields that only the workspace needs. */
function publishedManifest(folder) {
  const { scripts, devDependencies, publishConfig, dependencies = {}, ...manifest } = manifestOf(folder);
  const { access, provenance } = publishConfig;
  const publishedDependencies = Object.entries(dependencies).filter(
    ([name]) => !bundleOptionsOf(folder) || INSTALLED_PACKAGES.includes(name),
  );
  const publishedExports = Object.entries(manifest.exports).map(([path, { '@apistrata/source': _, ...entry }]) => [
    path,
    entry,
  ]);
  return {
    ...manifest,
    exports: { ...Object.fromEntries(publishedExports), './package.json': './package.json' },
    ...(publishedDependencies.length > 0 && { dependencies: Object.fromEntries(publishedDependencies) }),
    ...(supportsCommonJs(folder) && commonjsFields(manifest)),
    publishConfig: { access, provenance },
  };
}

/**
 * Writes the published form of a package (`packages/quota`) to a folder.
 * @param options.types whether to write declarations, which requires `npm run build`; default true
 */
export async function writePublishedForm(folder, target, { types = true } = {}) {
  const manifest = manifestOf(folder);
  mkdirSync(target, { recursive: true });
  for (const path of manifest.files.filter((file) => file !== 'dist'))
    if (existsSync(join(ROOT, folder, path))) cpSync(join(ROOT, folder, path), join(target, path), { recursive: true });
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  writeFileSync(join(target, 'README.md'), readme.replaceAll(HTML_COMMENT, ''));
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest(folder), null, 2)}\n`);
  await writeModules(folder, target, manifest);
  if (types) await writeTypes(folder, target, manifest);
}

/** Returns the folder of the package that modules in `folder` import as `name`. */
export function installedFolderOf(folder, name) {
  for (let at = folder; at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'node_modules', name))) return realpathSync(join(at, 'node_modules', name));
  throw new Error(`${name} is not installed for ${folder}`);
}

/**
 * Installs all packages in their published form into a project's folder, with links to the third-party dependencies of
 * this workspace.
 */
export async function installPublishedForms(project) {
  for (const folder of publishedFolders()) {
    const manifest = publishedManifest(folder);
    const target = join(project, 'node_modules', manifest.name);
    mkdirSync(join(target, 'node_modules'), { recursive: true });
    await writePublishedForm(folder, target);
    for (const dependency of dependencyNames(manifest)) {
      if (dependency.startsWith('@apistrata/')) continue;
      const link = join(target, 'node_modules', dependency);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(installedFolderOf(join(ROOT, folder), dependency), link, 'junction');
    }
  }
}
