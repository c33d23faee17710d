import { missOf } from './budget.mjs';
import { rowsOf } from './results.mjs';

/** Returns the rows of a results file whose medians miss their budgets, by section and subject. */
export const missesOf = (markdown) => [...rowsOf(markdown)].filter(([, row]) => missOf(row));

/** Returns the rows of a results file whose medians miss their budgets, as a Markdown table with reasons. */
export function missedBudgets(markdown) {
  const lines = missesOf(markdown).map(([subject, { ours, unit, ratio, budget, reason }]) => {
    const figure = `${ours.median} ${unit}${ratio ? `, ${ratio.median} x` : ''}`;
    return `| ${subject} | ${figure} | ${budget} | ${reason} |`;
  });
  return ['| what | measured | budget | reason |', '|---|---|---|---|', ...lines].join('\n');
}
