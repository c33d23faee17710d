// Puts a package together as it is published: its modules in a few files, for of an import Node spends most on finding and
// reading each of many. The sources count as they are, and the declarations that `npm run build` has made of them.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { COMMONJS_FOLDER, commonjsFields, writeEsModules } from './commonjs-form.mjs';
import { manifestOf, publishedFolders, servesCommonJs } from './manifests.mjs';
import { ownAddresses } from './own-addresses.mjs';

const ROOT = join(import.meta.dirname, '..');

const moduleOf = (path) => path.replace(/^\.\/(src|dist)\//, '').replace(/\.[jt]s$/, '');

/** Modules that others import or run, by the place of each in `dist`. */
function entriesOf({ exports, bin = {} }, folder) {
  const doors = Object.values(exports).map((entry) => entry['@apistrata/source'] ?? '');
  const modules = [...doors, ...Object.values(bin)].map(moduleOf);
  const entries = modules.map((module) => [module, join(folder, 'src', `${module}.ts`)]);
  return Object.fromEntries(entries.filter(([, file]) => existsSync(file)));
}

/** Names of the packages that are installed beside one, and of itself. */
function othersOf({ name, dependencies, optionalDependencies, peerDependencies }) {
  return Object.keys({ [name]: '', ...dependencies, ...optionalDependencies, ...peerDependencies });
}

async function bundle(folder, manifest, folderName) {
  const others = othersOf(manifest);
  const bundled = await rolldown({
    input: entriesOf(manifest, folder),
    platform: 'node',
    // Other packages of ours, too: there is one copy of each class, whoever imports it.
    external: (id) => others.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [ownAddresses(/new URL\([^()]+, import\.meta\.url\)/)],
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const commonjs = servesCommonJs(folderName);
  const { output } = await bundled.write({
    dir: join(folder, 'dist', commonjs ? COMMONJS_FOLDER : ''),
    format: commonjs ? 'cjs' : 'esm',
    // Jest runs CommonJS without the means to import ES modules.
    dynamicImportInCjs: false,
    chunkFileNames: 'chunks/[name].js',
    comments: { annotation: true, legal: true, jsdoc: false },
    // They lead to the sources, which go along.
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await bundled.close();
  if (commonjs) writeEsModules(join(folder, 'dist'), output);
}

/** What the compiler has made of sources that are there, and scripts that are read as they are. */
function copyBuilt(from, to, dist) {
  for (const path of readdirSync(join(to, 'src'), { recursive: true })) {
    const files = path.endsWith('.ts') ? ['.d.ts', '.d.ts.map'].map((end) => path.replace(/\.ts$/, end)) : [path];
    if (!/\.[jt]s$/.test(path)) continue;
    for (const file of files) copyDeclaration(join(from, 'dist', file), join(to, dist, file));
  }
}

/** The folder above `dist`. */
const packageOf = (file) => file.slice(0, file.lastIndexOf(`${sep}dist${sep}`));

/** Maps lead to the sources from where they are. */
function copyDeclaration(from, to) {
  cpSync(from, to);
  if (!to.endsWith('.map')) return;
  const map = JSON.parse(readFileSync(from, 'utf8'));
  const sources = map.sources.map((source) => join(dirname(from), source));
  const moved = sources.map((source) => relative(dirname(to), join(packageOf(to), relative(packageOf(from), source))));
  writeFileSync(to, JSON.stringify({ ...map, sources: moved }));
}

/** Writes a package (`packages/quota`) as it is published into a folder. */
export async function writePublishedForm(folder, target) {
  const from = join(ROOT, folder);
  const { scripts, devDependencies, publishConfig, ...manifest } = manifestOf(folder);
  const { access, provenance } = publishConfig;
  const extra = manifest.files.filter((file) => !file.startsWith('!') && !['dist', 'src'].includes(file));
  // Commands that are bundled by themselves, with all that they load.
  const commands = Object.values(manifest.bin ?? {}).filter(
    (file) => !existsSync(join(from, 'src', `${moduleOf(file)}.ts`)),
  );
  for (const path of ['src', 'README.md', ...extra, ...commands.map((file) => dirname(file))])
    if (existsSync(join(from, path)))
      cpSync(join(from, path), join(target, path), { recursive: true, filter: (file) => !file.endsWith('.test.ts') });
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
  const forms = servesCommonJs(folder) ? commonjsFields(manifest) : {};
  const published = { ...manifest, ...forms, publishConfig: { access, provenance } };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  await bundle(target, manifest, folder);
  copyBuilt(from, target, servesCommonJs(folder) ? `dist/${COMMONJS_FOLDER}` : 'dist');
}

/** The folder of a package as modules in another folder find it. */
export function installedFor(folder, name) {
  for (let at = folder; at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'node_modules', name))) return realpathSync(join(at, 'node_modules', name));
  throw new Error(`${name} is not installed for ${folder}`);
}

/** Installs all packages as they are published into a project's folder, with what others give for each of them here. */
export async function installPublishedForms(project) {
  for (const folder of publishedFolders()) {
    const manifest = manifestOf(folder);
    const target = join(project, 'node_modules', manifest.name);
    mkdirSync(join(target, 'node_modules'), { recursive: true });
    await writePublishedForm(folder, target);
    for (const other of othersOf(manifest)) {
      if (other.startsWith('@apistrata/')) continue;
      const link = join(target, 'node_modules', other);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(installedFor(join(ROOT, folder), other), link, 'junction');
    }
  }
}
