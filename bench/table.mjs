/** Rows `{ what, ours, baseline, ratio, unit, spread, budget }` as a Markdown table; `spread` is a part of the median. */
export function table(rows) {
  const show = (value) => (typeof value === 'number' ? String(Number(value.toPrecision(4))) : (value ?? ''));
  const percent = (part) => (part === undefined ? '' : `${Math.round(100 * part)} %`);
  const lines = rows.map(
    ({ what, ours, baseline, ratio, unit, spread, budget }) =>
      `| ${[what, show(ours), show(baseline), unit, show(ratio), percent(spread), budget].map((cell) => cell ?? '').join(' | ')} |`,
  );
  return [
    '| what | ours | baseline | unit | ratio | spread | budget |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
