/** Returns the median of numbers; for an even count, the mean of the middle two. */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/**
 * Summarizes the content of a cell: one number, or several samples.
 *
 * @returns the median; of several samples also the minimum and the maximum; undefined for an empty cell
 */
export function summary(cell) {
  if (!Array.isArray(cell)) return typeof cell === 'number' ? { median: cell } : undefined;
  return cell.length === 1
    ? { median: cell[0] }
    : { median: median(cell), low: Math.min(...cell), high: Math.max(...cell) };
}

/**
 * Returns the ratio of two results. Samples that were measured alternately are compared pair by pair, because other
 * load affected both.
 */
export function ratioOf(ours, baseline) {
  const pairs = Array.isArray(ours) && Array.isArray(baseline) && ours.length === baseline.length;
  // Differences below the resolution of the clock are not compared.
  if (pairs && baseline.every((sample) => sample > 0))
    return summary(ours.map((sample, turn) => sample / baseline[turn]));
  const [one, other] = [summary(ours), summary(baseline)];
  return one && other?.median > 0 ? { median: one.median / other.median } : undefined;
}

/**
 * Measures several candidates alternately, so that changes in the machine's speed affect all of them. Each candidate is
 * a function that measures once.
 *
 * @returns one list of samples for each candidate, in order
 */
export async function interleaved(rounds, ...measures) {
  const samples = measures.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, measure] of measures.entries()) samples[index].push(await measure());
  return samples;
}
