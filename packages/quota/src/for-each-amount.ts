/** Tells the amount of each kind, without making a list of them first. */
export function forEachAmount<K extends string>(
  amounts: Readonly<Record<K, number>>,
  tell: (kind: K, amount: number) => void,
): void {
  for (const kind in amounts) tell(kind, amounts[kind]);
}
