const STRIDE = 101;

const pairsOf = (row, names) => names.flatMap((a, i) => names.slice(i + 1).map((b) => `${a}=${row[a]} ${b}=${row[b]}`));

/** Every combination of the factors' values. */
function product(factors) {
  return Object.entries(factors).reduce(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

/**
 * Selects a few combinations in which every two compatible values of different factors occur together at least once.
 *
 * @param factors values by the name of their factor
 * @param isPossible whether a combination can occur
 * @param alsoCovered names what else must occur, and occurs in a combination
 * @returns the same rows every time
 */
export function pairs(factors, isPossible = () => true, alsoCovered = () => []) {
  const names = Object.keys(factors);
  const candidates = product(factors)
    .filter(isPossible)
    .map((row) => ({ row, covered: [...pairsOf(row, names), ...alsoCovered(row)] }));
  const missing = new Set(candidates.flatMap(({ covered }) => covered));
  const rows = [];
  while (missing.size > 0) {
    const gain = ({ covered }) => covered.filter((pair) => missing.has(pair)).length;
    // Ties are broken differently in each round. Otherwise, the last rows would all have the first values.
    const start = (rows.length * STRIDE) % candidates.length;
    const turned = [...candidates.slice(start), ...candidates.slice(0, start)];
    const best = turned.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    for (const pair of best.covered) missing.delete(pair);
    rows.push(best.row);
  }
  return rows;
}
