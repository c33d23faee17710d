/** Returns pairs of the items at the same position in two lists. @throws RangeError if the second list is shorter */
export function zip<A, B>(first: readonly A[], second: readonly B[]): [A, B][] {
  const secondIterator = second.values();
  return first.map((one) => {
    const nextItem = secondIterator.next();
    if (nextItem.done) throw new RangeError(`Expected ${first.length} results, got ${second.length}`);
    return [one, nextItem.value];
  });
}
