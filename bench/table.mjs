import { missOf } from './budget.mjs';
import { ratioOf, summary } from './samples.mjs';

export const COLUMNS = ['what', 'ours', 'baseline', 'unit', 'ratio', 'budget', 'reason'];

const digits = (number) => String(Number(number.toPrecision(4)));

/** Formats `12 (11 to 14)`: the median, and the minimum and maximum of the samples. */
function show(found) {
  if (found === undefined) return '';
  const { median, low, high } = found;
  return low === undefined ? digits(median) : `${digits(median)} (${digits(low)} to ${digits(high)})`;
}

/** Returns why a row misses its budget; an empty string if it does not, or if the reason is unknown. */
function reasonOf(row, reason) {
  const miss = missOf(row);
  return miss ? (reason ?? (miss.spread ? 'the budget is within the spread of the samples' : '')) : '';
}

/**
 * Formats rows `{ what, ours, baseline, unit, budget, reason }` as a Markdown table. `ours` and `baseline` are each a
 * number or a list of samples, from which the ratio is computed. `reason` is the reason why a row may miss its budget;
 * the table contains it only if the row does.
 *
 * @throws Error if two rows have the same `what`, because it identifies a row
 */
export function table(rows) {
  const subjects = new Set();
  const lines = rows.map(({ what, unit, budget, reason, ...samples }) => {
    if (subjects.has(what)) throw new Error(`two rows are named "${what}"`);
    subjects.add(what);
    const [ours, baseline] = [summary(samples.ours), summary(samples.baseline)];
    const ratio = ratioOf(samples.ours, samples.baseline);
    const shownReason = reasonOf({ ours, baseline, ratio, budget }, reason);
    const cells = [what, show(ours), show(baseline), unit, show(ratio), budget, shownReason];
    return `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  });
  return [`| ${COLUMNS.join(' | ')} |`, `|${'---|'.repeat(COLUMNS.length)}`, ...lines].join('\n');
}
