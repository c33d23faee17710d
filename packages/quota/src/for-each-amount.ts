/** Calls a function with each resource kind and its amount, without creating an array of entries. */
export function forEachAmount<K extends string>(
  amounts: Readonly<Record<K, number>>,
  callback: (kind: K, amount: number) => void,
): void {
  for (const kind in amounts) callback(kind, amounts[kind]);
}
