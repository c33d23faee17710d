import { COLUMNS } from './table.mjs';

/** Returns the sections of a results file, by name, each with its heading. */
export function sectionsOf(markdown) {
  return new Map(
    markdown
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.split('\n', 1)[0], `## ${part.trimEnd()}\n`]),
  );
}

/** Parses `12 (11 to 14)` into numbers; undefined without numbers. */
function figure(text) {
  const [, median, low, high] = /^(\S+)(?: \((\S+) to (\S+)\))?$/.exec(text.trim()) ?? [];
  if (median === undefined) return undefined;
  return low === undefined
    ? { median: Number(median) }
    : { median: Number(median), low: Number(low), high: Number(high) };
}

/** Returns the rows of a results file, by section and subject: `compute: GET /flavors/{id}`. */
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
        budget: cell('budget').trim(),
        reason: cell('reason').trim(),
      });
    }
  }
  return rows;
}
