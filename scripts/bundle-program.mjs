// Bundles a program, such as the reference server or the test cloud, with all its dependencies, including third-party
// packages. A program with few files starts faster, and one with few packages installs faster.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundledFiles } from './bundled-files.mjs';
import { isReplaced, reducedModules } from './reduced-modules.mjs';

/** Packages that are installed as dependencies instead of bundled, because they are large and few requests use them. */
export const INSTALLED_PACKAGES = ['node-forge', 're2js'];

/** Optional packages that bundles omit: native bindings, and a driver for another platform. */
const OMITTED_PACKAGES = ['pg-native', 'pg-cloudflare'];

/** Returns the text of a package's license, from its license file or, without one, from its README. */
function readLicense(folder) {
  const readFile = (pattern) => {
    const file = readdirSync(folder).find((entry) => pattern.test(entry));
    return file ? readFileSync(join(folder, file), 'utf8').trim() : undefined;
  };
  return readFile(/^licen[cs]e/i) ?? /^#+ *licen[cs]e\b[\s\S]*/im.exec(readFile(/^readme/i) ?? '')?.[0] ?? '';
}

const isCopyright = (line) => /^\W*copyright\s+(\(c\)|©|\d{4})/i.test(line);

/**
 * Returns the licenses of the third-party packages that modules belong to. Packages whose licenses differ only in their
 * copyright lines share a license text.
 */
function licensesOf(ids) {
  const folders = ids.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]);
  const groups = new Map();
  for (const folder of [...new Set(folders.filter(Boolean))].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const lines = readLicense(folder).split('\n');
    const text = lines.filter((line) => !isCopyright(line)).join('\n');
    const key = text.replace(/\W+/g, ' ').trim();
    const group = groups.get(key) ?? { text, packages: [] };
    groups.set(key, group);
    group.packages.push([`${name} ${version} (${license})`, ...lines.filter(isCopyright)].join('\n'));
  }
  const texts = [...groups.values()].map(({ packages, text }) => `${packages.join('\n\n')}\n\n${text.trim()}\n`);
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * Returns a plugin that resolves optional peer dependencies from the program, because workspace packages do not install
 * them.
 */
function resolvePeersFrom(main) {
  return {
    name: 'peers',
    resolveId: {
      filter: { id: /^[^./\0]/ },
      async handler(id, importer) {
        if (!importer || importer.includes('node_modules')) return;
        return (
          (await this.resolve(id, importer, { skipSelf: true })) ?? (await this.resolve(id, main, { skipSelf: true }))
        );
      },
    },
  };
}

const CREATE_REQUIRE_CALL = /\bcreateRequire\(import\.meta\.url\)\('([^']+)'\)/g;

/**
 * Returns a plugin that bundles packages that modules load on first use. Without it, rolldown follows only `require()`.
 */
const bundleLazyModules = (unused) => ({
  name: 'loaded-later',
  transform: {
    filter: { id: /\.[jt]s$/, code: CREATE_REQUIRE_CALL },
    handler: (code) => ({
      code: code.replaceAll(CREATE_REQUIRE_CALL, (text, name) => (unused.includes(name) ? text : `require('${name}')`)),
      map: null,
    }),
  },
});

/**
 * Bundles modules into a folder, and replaces its previous content. Also writes the licenses of the third-party
 * packages.
 * @param input the source files of the modules, by their path in the folder without an extension
 * @param options.unused packages that modules load on first use, but that this program never uses
 * @param options.small whether names are shortened; otherwise stack traces contain the names of functions. Default false
 */
export async function bundleProgram(input, folder, { unused = [], small = false } = {}) {
  rmSync(folder, { recursive: true, force: true });
  const files = bundledFiles();
  const [main] = Object.values(input);
  const bundle = await rolldown({
    input,
    platform: 'node',
    // Warnings are errors here, but warnings about slow plugins depend on the load of the machine.
    checks: { pluginTimings: false },
    // Workspace packages are bundled from their sources.
    resolve: { conditionNames: ['@apistrata/source', 'node'], extensionAlias: { '.js': ['.ts', '.js'] } },
    external: [...INSTALLED_PACKAGES, ...OMITTED_PACKAGES],
    plugins: [resolvePeersFrom(main), bundleLazyModules(unused), reducedModules({ small }), files.plugin],
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    chunkFileNames: '[name].js',
    ...(small && { comments: { annotation: false, legal: true, jsdoc: false } }),
    // Class names are kept because error messages contain them, and function names because stack traces of servers do.
    minify: { compress: true, mangle: { keepNames: { class: true, function: !small } } },
  });
  await bundle.close();
  files.copyFiles(folder);
  const chunks = output.filter(({ type }) => type === 'chunk');
  const bundledModules = chunks.flatMap(({ moduleIds }) => moduleIds.filter((id) => !isReplaced(id, { small })));
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(bundledModules));
}
