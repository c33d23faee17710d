/** A bound such as `<= 20 ms` or `>= 1500/s`, of the ratio (`<= 1.3 x`), or of the difference (`<= bare + 0.12 ms`). */
const BOUND = /(<=|>=|<|>) (bare \+ )?([\d.,]+)(?: ?(x)\b)?/g;

const isWithin = (value, operator, bound) =>
  ({ '<=': value <= bound, '<': value < bound, '>=': value >= bound, '>': value > bound })[operator];

/** Returns the bounds that a budget contains: the compared quantity, the operator and the number. */
export const boundsOf = (budget) =>
  Array.from(budget.matchAll(BOUND), ([, operator, isDifference, number, isRatio]) => ({
    quantity: isRatio ? 'ratio' : isDifference ? 'difference' : 'ours',
    operator,
    bound: Number(number.replaceAll(',', '')),
  }));

/** Returns the smallest, the median and the largest value of a quantity that a bound limits. */
function valuesOf(quantity, row) {
  const { median, low = median, high = median } = row[quantity === 'difference' ? 'ours' : quantity] ?? {};
  const values = median === undefined ? [] : [low, median, high];
  return quantity === 'difference' ? values.map((value) => value - row.baseline.median) : values;
}

/**
 * Compares the medians of a row with the row's budget. The cells of the row are summaries (`samples.mjs`).
 *
 * @returns undefined if the row meets its budget or has none; otherwise, `spread` says whether some samples meet every
 *   bound that the medians miss
 */
export function missOf(row) {
  const missed = boundsOf(row.budget ?? '').flatMap(({ quantity, operator, bound }) => {
    const [low, median, high] = valuesOf(quantity, row);
    if (median === undefined || isWithin(median, operator, bound)) return [];
    return [{ spread: isWithin(low, operator, bound) || isWithin(high, operator, bound) }];
  });
  return missed.length > 0 ? { spread: missed.every(({ spread }) => spread) } : undefined;
}
