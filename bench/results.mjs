import { COLUMNS } from './table.mjs';

/** The sections of a file of results, by name, each with its heading. */
export function sectionsOf(markdown) {
  return new Map(
    markdown
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.split('\n', 1)[0], `## ${part.trimEnd()}\n`]),
  );
}

/** `12 (11 to 14)` as numbers; undefined where there are none. */
function figure(text) {
  const [, median, low, high] = /^(\S+)(?: \((\S+) to (\S+)\))?$/.exec(text.trim()) ?? [];
  if (median === undefined) return undefined;
  return low === undefined
    ? { median: Number(median) }
    : { median: Number(median), low: Number(low), high: Number(high) };
}

/** The rows of a file of results, by section and what they are about: `compute: GET /flavors/{id}`. */
export function rowsOf(markdown) {
  const rows = new Map();
  for (const [section, text] of sectionsOf(markdown)) {
    const [, ...body] = text
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.slice(2, -2).split(' | '));
    for (const cells of body) {
      const cell = (name) => cells[COLUMNS.indexOf(name)] ?? '';
      rows.set(`${section}: ${cell('what')}`, {
        ours: figure(cell('ours')),
        baseline: figure(cell('baseline')),
        ratio: figure(cell('ratio')),
        unit: cell('unit').trim(),
      });
    }
  }
  return rows;
}
