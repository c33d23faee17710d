import type { Wire } from './listing.js';

/** Whether a value is what a parameter of the query says: text against whatever it is. */
export function sameValue(value: unknown, wanted: string): boolean {
  if (typeof value === 'boolean') return ['true', '1', 'yes', 't', 'on'].includes(wanted.toLowerCase()) === value;
  if (Array.isArray(value)) return value.some((item) => sameItem(item, wanted));
  return String(value ?? '') === wanted;
}

/** An item of a list: a text, or an object of which `key=value` is asked. */
function sameItem(item: unknown, wanted: string): boolean {
  if (typeof item !== 'object' || item === null) return String(item) === wanted;
  const mark = wanted.indexOf('=');
  return mark > 0 && String((item as Wire)[wanted.slice(0, mark)]) === wanted.slice(mark + 1);
}

/** Comparisons that are written before a value: `gte:2026-01-01T00:00:00Z`. */
const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
  eq: (order) => order === 0,
  neq: (order) => order !== 0,
};

/** Splits `gte:value`; without an operator it is `eq`. Undefined: an operator that nobody knows. */
export function comparison(text: string): { readonly operator: string; readonly value: string } | undefined {
  const mark = text.indexOf(':');
  const operator = text.slice(0, Math.max(mark, 0));
  if (mark < 0 || /^\d/.test(operator)) return { operator: 'eq', value: text };
  return operator in COMPARISONS ? { operator, value: text.slice(mark + 1) } : undefined;
}

export function compares(operator: string, value: number, wanted: number): boolean {
  return COMPARISONS[operator]!(Math.sign(value - wanted));
}

/** A moment as clients write it, in milliseconds; with or without a zone, which is UTC then. NaN for anything else. */
export function momentOf(written: string): number {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(written)) return Number.NaN;
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(written.slice(10)) || written.length === 10;
  return Date.parse(zoned ? written : `${written.replace(' ', 'T')}Z`);
}

/** Comparisons of text that are written behind a name: `name__icontains=web`. */
const INEXACT: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  contains: (value, wanted) => value.includes(wanted),
  startswith: (value, wanted) => value.startsWith(wanted),
  endswith: (value, wanted) => value.endsWith(wanted),
  equals: (value, wanted) => value === wanted,
};

/** Whether `name__comparator=wanted` holds; undefined for a comparator that there is not. */
export function inexact(value: unknown, comparator: string, wanted: string): boolean | undefined {
  const text = String(value ?? '');
  if (Object.hasOwn(INEXACT, comparator)) return INEXACT[comparator]!(text, wanted);
  const plain = comparator.slice(1);
  if (!comparator.startsWith('i') || !Object.hasOwn(INEXACT, plain)) return undefined;
  return INEXACT[plain]!(text.toLowerCase(), wanted.toLowerCase());
}

/** The four ways in which lists are narrowed by tags; each takes tags joined by commas. */
export const TAG_FILTERS: Readonly<Record<string, (tags: readonly string[], wanted: readonly string[]) => boolean>> = {
  tags: (tags, wanted) => wanted.every((tag) => tags.includes(tag)),
  'tags-any': (tags, wanted) => wanted.some((tag) => tags.includes(tag)),
  'not-tags': (tags, wanted) => !wanted.every((tag) => tags.includes(tag)),
  'not-tags-any': (tags, wanted) => !wanted.some((tag) => tags.includes(tag)),
};

/** Narrows by the tag parameters of a query. */
export function filteredByTags<W extends Wire>(items: readonly W[], query: URLSearchParams): readonly W[] {
  const wanted = Object.keys(TAG_FILTERS).flatMap((name) =>
    query.getAll(name).map((value) => ({ holds: TAG_FILTERS[name]!, tags: value.split(',') })),
  );
  if (wanted.length === 0) return items;
  return items.filter((item) => wanted.every(({ holds, tags }) => holds((item.tags ?? []) as readonly string[], tags)));
}
