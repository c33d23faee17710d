/** Units of which more is better; of all others less is. */
const RATE = /\/s$/;

/** What figures of two runs are apart when nothing has changed, where a row does not say it. */
const USUAL_SPREAD = 0.1;

const number = (text) => (text.trim() === '' ? undefined : Number(text));

/** The rows that a file of results has, by section and what they are about. */
export function rowsOf(markdown) {
  const rows = new Map();
  for (const part of markdown.split(/^## /m).slice(1)) {
    const [section] = part.split('\n', 1);
    const cells = part
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.slice(2, -2).split(' | '));
    const [head, ...body] = cells;
    for (const row of body) {
      const cell = (name) => row[head.indexOf(name)] ?? '';
      rows.set(`${section}: ${cell('what')}`, {
        ours: number(cell('ours')),
        unit: cell('unit').trim(),
        spread: cell('spread').trim() === '' ? undefined : Number.parseFloat(cell('spread')) / 100,
      });
    }
  }
  return rows;
}

/**
 * What has become slower (or larger) from one file of results to another by more than both rows' spread, as sentences.
 * Rows that only one of them has are left out.
 */
export function slower(before, after) {
  const former = rowsOf(before);
  return [...rowsOf(after)].flatMap(([what, { ours, unit, spread = USUAL_SPREAD }]) => {
    const was = former.get(what);
    if (!was || !(was.ours > 0) || !(ours > 0) || was.unit !== unit) return [];
    const factor = RATE.test(unit) ? was.ours / ours : ours / was.ours;
    const allowed = 1 + spread + (was.spread ?? USUAL_SPREAD);
    if (factor <= allowed) return [];
    return [
      `${what}: ${was.ours} -> ${ours} ${unit}, ${factor.toFixed(2)} x (up to ${allowed.toFixed(2)} x is spread)`,
    ];
  });
}
