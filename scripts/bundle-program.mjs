// Puts a program and all that it loads into a few files: of a start, Node spends most on finding and reading a thousand.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { ownAddresses } from './own-addresses.mjs';

/** The terms of the packages of other people whose modules these are; they ask to go along. */
function licensesOf(ids) {
  const folders = ids.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]);
  const texts = [...new Set(folders.filter(Boolean))].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** A plugin that finds optional peers, which packages of the workspace do not install themselves, where the program does. */
function peersOf(main) {
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

/**
 * Writes a program into a folder, which is made anew; its first module has the same name there. Beside the bundle, the program
 * needs the packages whose modules read files beside themselves.
 * @param main path of the first module: a source or what the compiler has made of it
 */
export async function bundleProgram(main, folder) {
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    input: main,
    platform: 'node',
    // Packages of ours are bundled from their sources.
    resolve: { conditionNames: ['@apistrata/source', 'node'], extensionAlias: { '.js': ['.ts', '.js'] } },
    // Large, and for key pairs of one kind only; it is installed with the package.
    external: ['node-forge'],
    plugins: [peersOf(main), ownAddresses(/import\.meta\.url/)],
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    chunkFileNames: '[name].js',
    // Names stay, for they stand in errors; comments and white space would have to be read at every start.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
  const chunks = output.filter(({ type }) => type === 'chunk');
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(chunks.flatMap(({ moduleIds }) => moduleIds)));
}
