// Budgets of findings: how many a document, or a package and kind of text, may have. They may only fall.

/** @typedef {Readonly<Record<string, number>>} Counts by document (`docs/errors.md`), or by package and kind (`quota comments`) */

/** Documents are counted one by one; all other keys by kind, the last word of the key. */
const kindOf = (/** @type {string} */ key) => (key.endsWith('.md') ? undefined : key.slice(key.lastIndexOf(' ') + 1));

const sum = (/** @type {Counts} */ counts, /** @type {string | undefined} */ kind) =>
  Object.entries(counts).reduce((total, [key, count]) => (kindOf(key) === kind ? total + count : total), 0);

/**
 * Returns the keys that exceed their budget. A document without a budget may have none. A new package may have findings
 * only if the total of the kind does not grow: code moves between packages.
 *
 * @param {Counts} counts
 * @param {Counts} budgets
 */
export function exceeded(counts, budgets) {
  return Object.keys(counts).filter((key) => {
    const kind = kindOf(key);
    const isNewPackage = kind !== undefined && !Object.hasOwn(budgets, key);
    return isNewPackage ? sum(counts, kind) > sum(budgets, kind) : (counts[key] ?? 0) > (budgets[key] ?? 0);
  });
}

/**
 * Returns the budgets lowered to the counts, without keys that have no findings left. Nothing is raised.
 *
 * @param {Counts} counts
 * @param {Counts} budgets
 */
export function lowered(counts, budgets) {
  const over = new Set(exceeded(counts, budgets));
  return Object.fromEntries(
    Object.entries(counts)
      .map(([key, count]) => /** @type {const} */ ([key, over.has(key) ? (budgets[key] ?? 0) : count]))
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
