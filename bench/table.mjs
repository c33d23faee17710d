/** Rows `{ what, ours, baseline, ratio, unit, budget }` as a Markdown table. */
export function table(rows) {
  const show = (value) => (typeof value === 'number' ? String(Number(value.toPrecision(4))) : (value ?? ''));
  const lines = rows.map(
    ({ what, ours, baseline, ratio, unit, budget }) =>
      `| ${[what, show(ours), show(baseline), unit, show(ratio), budget].map((cell) => cell ?? '').join(' | ')} |`,
  );
  return ['| what | ours | baseline | unit | ratio | budget |', '|---|---|---|---|---|---|', ...lines].join('\n');
}
