import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** What modules read of their own place: they find there what they look for beside them, wherever the bundle is. */
const OWN_PLACE = /\bimport\.meta\.(url|dirname|filename)\b/;

const ownPlaces = {
  name: 'own-places',
  transform: {
    filter: { code: OWN_PLACE },
    handler(code: string, id: string) {
      const places = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id };
      const replaced = code.replaceAll(new RegExp(OWN_PLACE, 'g'), (_, name: keyof typeof places) =>
        JSON.stringify(places[name]),
      );
      return { code: replaced, map: null };
    },
  },
};

async function bundle(entry: string, folder: string): Promise<void> {
  // Loaded by the first that needs it only.
  const { rolldown } = await import('rolldown');
  const made = await rolldown({
    input: { main: entry },
    platform: 'node',
    resolve: { conditionNames: ['@apistrata/source', 'node'], extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [ownPlaces],
    logLevel: 'silent',
  });
  try {
    await made.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  } finally {
    await made.close();
  }
}

/**
 * A program that tests start, with all that it loads in a few files, made of the sources once a run: of a start, Node would
 * spend most on finding and reading a thousand.
 * @param entry path of its first module, which may import packages of ours
 * @returns path of the file that Node is to run
 */
export async function bundledProgram(entry: string): Promise<string> {
  const folder = join(inject('bundles'), relative(ROOT, entry).replaceAll(/[^\w.-]/g, '_'));
  const main = join(folder, 'main.mjs');
  if (existsSync(main)) return main;
  // Test files run in processes of their own: whoever is later than another one takes what that has made.
  const draft = await mkdtemp(`${folder}-`);
  await bundle(entry, draft);
  await rename(draft, folder).catch(async (error) => {
    await rm(draft, { recursive: true });
    if (!existsSync(main)) throw error;
  });
  return main;
}
