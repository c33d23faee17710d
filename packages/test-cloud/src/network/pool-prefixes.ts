import { type Cidr, cidrOf, formatCidr } from '@apistrata/compute-engine/catalogs';

/** Returns whether two prefixes overlap. */
export function prefixesOverlap(one: Cidr, other: Cidr): boolean {
  return one.version === other.version && one.first <= other.last && other.first <= one.last;
}

const containsPrefix = (outer: Cidr, inner: Cidr) =>
  outer.version === inner.version && outer.first <= inner.first && inner.last <= outer.last;

/** Returns the prefix that two adjacent halves form together; undefined if they are not the halves of a prefix. */
function joinHalves(low: Cidr, high: Cidr): Cidr | undefined {
  if (low.version !== high.version || low.prefix !== high.prefix || low.last + 1n !== high.first) return undefined;
  const parent = cidrOf(formatCidr({ ...low, prefix: low.prefix - 1 }));
  return parent.first === low.first ? parent : undefined;
}

/** Adds a prefix to a sorted list of prefixes, and merges adjacent halves. */
function addPrefix(prefixes: readonly Cidr[], next: Cidr): readonly Cidr[] {
  const last = prefixes.at(-1);
  if (!last) return [next];
  if (containsPrefix(last, next)) return prefixes;
  const parent = joinHalves(last, next);
  return parent ? addPrefix(prefixes.slice(0, -1), parent) : [...prefixes, next];
}

/** Returns the shortest list of prefixes that covers the same addresses, in ascending order. */
export function compactPrefixes(prefixes: readonly string[]): readonly Cidr[] {
  return prefixes
    .map(cidrOf)
    .sort((a, b) => (a.first === b.first ? a.prefix - b.prefix : a.first < b.first ? -1 : 1))
    .reduce(addPrefix, [] as readonly Cidr[]);
}

/** Returns whether the prefixes `others` contain every address in `prefixes`. */
export function areContained(prefixes: readonly string[], others: readonly string[]): boolean {
  const outer = compactPrefixes(others);
  return prefixes.every((prefix) => outer.some((one) => containsPrefix(one, cidrOf(prefix))));
}
