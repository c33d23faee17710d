import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rowsOf } from './results.mjs';

const root = join(import.meta.dirname, '..');

/** A figure in a document: `<!-- ratio of compute: GET /flavors/{id} -->0.8 x<!-- -->`. Comments are not shown. */
const FIGURE = /<!-- (ours|baseline|ratio) of ([^>]+?) -->[^<]*<!-- -->/g;

function shown(number, unit) {
  return `${Number(number.toPrecision(unit === 'x' ? 2 : 3)).toLocaleString('en')} ${unit}`;
}

/**
 * Returns a document with the figures of the results.
 *
 * @throws Error for a figure that the results do not have
 */
export function withFigures(document, results) {
  const rows = rowsOf(results);
  return document.replace(FIGURE, (_, cell, what) => {
    const row = rows.get(what);
    if (!row?.[cell]) throw new Error(`the results have no ${cell} of "${what}"`);
    return `<!-- ${cell} of ${what} -->${shown(row[cell].median, cell === 'ratio' ? 'x' : row.unit)}<!-- -->`;
  });
}

/** The documents that may contain figures, by path. */
export function documents() {
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md'));
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  return ['README.md', ...packages, ...docs].map((path) => join(root, path)).filter((path) => existsSync(path));
}

/** Updates the figures in all documents that quote the results. */
export function writeFigures(results) {
  for (const path of documents()) {
    const before = readFileSync(path, 'utf8');
    const after = withFigures(before, results);
    if (after !== before) writeFileSync(path, after);
  }
}
