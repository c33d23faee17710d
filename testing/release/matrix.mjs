import { manifestOf, publishedFolders, runsOn, supportsCommonJs } from '../../scripts/manifests.mjs';
import { pairs } from './pairs.mjs';
import { uses } from './uses.mjs';

/** The names of the published packages, without the scope. */
export const NAMES = publishedFolders().map((path) => manifestOf(path).name.split('/')[1]);

const MATRIX = {
  node: [20, 22, 24],
  express: ['4', '5', 'none'],
  manager: ['npm', 'pnpm', 'yarn'],
  typescript: [5, 6, 7],
  modules: ['esm', 'cjs'],
  // Version of better-sqlite3 in the same application.
  sqlite: ['none', 12, 13],
};

/**
 * Returns whether a combination can occur: Node is new enough, the compute API has the Express version that it needs,
 * and for programs that are only run, nothing is compiled.
 */
function isPossible({ name, node, express, typescript, modules, sqlite }) {
  if (!runsOn(name, node)) return false;
  if (express === 'none' && uses[name].imports?.['@apistrata/compute-router']) return false;
  if (sqlite !== 'none' && (name !== 'quota' || (sqlite === 13 && node < 22))) return false;
  return uses[name].imports || (express === 'none' && typescript === 6 && modules === 'esm');
}

/** Returns whether a row compiles the first example of the README, and runs it unless it needs a prepared machine. */
export function showsReadme({ name, express }) {
  const { imports, readme } = uses[name];
  return Boolean(imports && (express !== 'none' || readme.value || readme.compiled));
}

/**
 * Returns whether a row uses a package as projects without support for ES modules do: in Jest and `ts-node`, and with
 * `module: node16` and `moduleResolution: node10`.
 */
export function usesCommonJsTools({ name, modules, manager }) {
  // Yarn resolves Jest's binaries for all platforms, and mirrors of the registry may lack some of them.
  return modules === 'cjs' && manager !== 'yarn' && supportsCommonJs(`packages/${name}`);
}

/** What must occur in addition to each pair: the README of each package with each manager, and its CommonJS with these tools. */
const alsoCovered = (row) => [
  ...(showsReadme(row) ? [`README of ${row.name} with ${row.manager}`] : []),
  ...(usesCommonJsTools(row) ? [`CommonJS tools with ${row.name}`] : []),
];

/** Returns the rows of the release check, the same every time. */
export const rowsToTest = () => pairs({ name: NAMES, ...MATRIX }, isPossible, alsoCovered);
