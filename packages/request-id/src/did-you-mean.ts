/** Returns a suggestion for an unknown name: the most similar known name, or all known names. */
export function didYouMean(name: string, knownNames: readonly string[]): string {
  const [closest] = knownNames
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.min(3, candidate.length / 2))
    .sort((a, b) => a.distance - b.distance);
  return closest ? `Did you mean "${closest.candidate}"?` : `Known names: ${knownNames.join(', ')}`;
}

function editDistance(a: string, b: string): number {
  let previousRow = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const currentRow = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitutionCost = (previousRow[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      currentRow.push(Math.min(substitutionCost, (previousRow[column] ?? 0) + 1, (currentRow[column - 1] ?? 0) + 1));
    }
    previousRow = currentRow;
  }
  return previousRow[b.length] ?? 0;
}
