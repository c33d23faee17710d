/** The items of two lists in pairs. Throws when the second is shorter: whoever made it left something out. */
export function sideBySide<A, B>(first: readonly A[], second: readonly B[]): [A, B][] {
  const others = second.values();
  return first.map((one) => {
    const other = others.next();
    if (other.done) throw new RangeError(`${second.length} answers to ${first.length} questions`);
    return [one, other.value];
  });
}
