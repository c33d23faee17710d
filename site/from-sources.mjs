// Loads exports of the workspace from TypeScript sources, which Node cannot load directly: bundles them first.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { bundledFiles } from '../scripts/bundled-files.mjs';
import { ROOT } from './links.mjs';

const SERVER = join(ROOT, 'examples', 'reference-server');
const ENTRY = join(SERVER, 'src', 'for-the-site.ts');

/** A virtual module in the folder of the reference server, because only the server depends on all packages. */
const entry = {
  name: 'entry',
  resolveId: (id) => (id === ENTRY ? id : undefined),
  load: (id) =>
    id === ENTRY
      ? `export { optionGroups } from './options.js';
         export { operations, computeApiHistory } from '@apistrata/compute-router';
         export { computeApiReference } from '@apistrata/compute-router/reference';
         export { changesBetween } from '@apistrata/microversion-router';
         export { buildStaticSite } from '${join(ROOT, 'packages/explorer/src/static/index.ts')}';`
      : undefined,
};

/** Returns the options of the server, the compute API, the function that compares its versions, and the builder of its explorer. */
export async function fromSources() {
  const files = bundledFiles();
  const bundle = await rolldown({
    input: { sources: ENTRY },
    platform: 'node',
    resolve: { conditionNames: ['@apistrata/source', 'node', 'import'] },
    plugins: [entry, files.plugin],
    logLevel: 'silent',
  });
  const folder = join(import.meta.dirname, 'dist', 'sources');
  await bundle.write({ dir: folder, format: 'esm' });
  await bundle.close();
  files.copyFiles(folder);
  return import(pathToFileURL(join(folder, 'sources.js')));
}
