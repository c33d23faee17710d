import { ratioOf, summary } from './samples.mjs';

export const COLUMNS = ['what', 'ours', 'baseline', 'unit', 'ratio', 'budget'];

const digits = (number) => String(Number(number.toPrecision(4)));

/** Formats `12 (11 to 14)`: the median, and the minimum and maximum of the samples. */
function show(found) {
  if (found === undefined) return '';
  const { median, low, high } = found;
  return low === undefined ? digits(median) : `${digits(median)} (${digits(low)} to ${digits(high)})`;
}

/**
 * Formats rows `{ what, ours, baseline, unit, budget }` as a Markdown table. `ours` and `baseline` are each a number or
 * a list of samples, from which the ratio is computed.
 */
export function table(rows) {
  const lines = rows.map(({ what, ours, baseline, unit, budget }) => {
    const cells = [what, show(summary(ours)), show(summary(baseline)), unit, show(ratioOf(ours, baseline)), budget];
    return `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  });
  return [`| ${COLUMNS.join(' | ')} |`, `|${'---|'.repeat(COLUMNS.length)}`, ...lines].join('\n');
}
