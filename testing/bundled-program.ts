import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Modules that read files relative to their own location expect them next to the source, not next to the bundle. */
const MODULE_LOCATION = /\bimport\.meta\.(url|dirname|filename)\b/;

const moduleLocations = {
  name: 'own-places',
  transform: {
    filter: { code: MODULE_LOCATION },
    handler(code: string, id: string) {
      const locations = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id };
      const replaced = code.replaceAll(new RegExp(MODULE_LOCATION, 'g'), (_, name: keyof typeof locations) =>
        JSON.stringify(locations[name]),
      );
      return { code: replaced, map: null };
    },
  },
};

async function bundle(entry: string, folder: string): Promise<void> {
  // Loaded only by the first process that needs it.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: { main: entry },
    platform: 'node',
    resolve: { conditionNames: ['@apistrata/source', 'node'], extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [moduleLocations],
    logLevel: 'silent',
  });
  try {
    await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  } finally {
    await build.close();
  }
}

/**
 * Bundles a program that tests start from its sources into a few files, once per run: otherwise, Node would spend most
 * of the startup time finding and reading a thousand files.
 * @param entry path of its first module, which may import packages of this workspace
 * @param _load imports that module; it is never called, and makes `vitest --changed` run tests whose programs a change affects
 * @returns path of the file to run with Node
 */
export async function bundledProgram(entry: string, _load?: () => Promise<unknown>): Promise<string> {
  const folder = join(inject('bundles'), relative(ROOT, entry).replaceAll(/[^\w.-]/g, '_'));
  const main = join(folder, 'main.mjs');
  if (existsSync(main)) return main;
  // Test files run in separate processes: later ones use the result of the first.
  const draft = await mkdtemp(`${folder}-`);
  await bundle(entry, draft);
  await rename(draft, folder).catch(async (error) => {
    await rm(draft, { recursive: true });
    if (!existsSync(main)) throw error;
  });
  return main;
}
