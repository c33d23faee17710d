/** The middle of some numbers; of an even count, halfway between the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/**
 * What a cell of a row is about: one number, or the samples that were taken of it. Undefined where there is nothing.
 *
 * @returns the median; and of several samples the least and the greatest
 */
export function summary(cell) {
  if (!Array.isArray(cell)) return typeof cell === 'number' ? { median: cell } : undefined;
  return cell.length === 1
    ? { median: cell[0] }
    : { median: median(cell), low: Math.min(...cell), high: Math.max(...cell) };
}

/**
 * The one by the other. Samples that were taken in turns are compared turn by turn: what the machine did meanwhile was done
 * to both.
 */
export function ratioOf(ours, baseline) {
  const pairs = Array.isArray(ours) && Array.isArray(baseline) && ours.length === baseline.length;
  // What took less than the clock can tell is nothing to compare with.
  if (pairs && baseline.every((sample) => sample > 0))
    return summary(ours.map((sample, turn) => sample / baseline[turn]));
  const [one, other] = [summary(ours), summary(baseline)];
  return one && other?.median > 0 ? { median: one.median / other.median } : undefined;
}

/**
 * Samples of several things in turns, so that a drifting machine treats them alike. Each is a function that measures once.
 *
 * @returns as many lists of samples as there are things, in their order
 */
export async function inTurns(rounds, ...measures) {
  const samples = measures.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, measure] of measures.entries()) samples[index].push(await measure());
  return samples;
}
