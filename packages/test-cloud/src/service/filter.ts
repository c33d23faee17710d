import type { Wire } from './wire.js';

/** Returns whether a value matches the text of a query parameter. */
export function matchesValue(value: unknown, expected: string): boolean {
  if (typeof value === 'boolean') return ['true', '1', 'yes', 't', 'on'].includes(expected.toLowerCase()) === value;
  if (Array.isArray(value)) return value.some((item) => matchesItem(item, expected));
  return String(value ?? '') === expected;
}

/** Returns whether an item matches a filter. A string matches by its value, an object by an entry `key=value`. */
function matchesItem(item: unknown, expected: string): boolean {
  if (typeof item !== 'object' || item === null) return String(item) === expected;
  const mark = expected.indexOf('=');
  return mark > 0 && String((item as Wire)[expected.slice(0, mark)]) === expected.slice(mark + 1);
}

/** Returns whether a comparison result satisfies an operator, such as `gte` in `gte:2026-01-01T00:00:00Z`. */
type OrderPredicate = (order: number) => boolean;

const isEqualOrder: OrderPredicate = (order) => order === 0;

const COMPARISONS: ReadonlyMap<string, OrderPredicate> = new Map(
  Object.entries<OrderPredicate>({
    gt: (order) => order > 0,
    gte: (order) => order >= 0,
    lt: (order) => order < 0,
    lte: (order) => order <= 0,
    eq: isEqualOrder,
    neq: (order) => order !== 0,
  }),
);

/** A parsed filter such as `gte:value`, whose default operator is `eq`. `holds` receives a comparison result. */
interface Comparison {
  readonly holds: OrderPredicate;
  readonly value: string;
}

/** Parses a filter such as `gte:value`; returns undefined for an unknown operator. */
export function parseComparison(text: string): Comparison | undefined {
  const mark = text.indexOf(':');
  const operator = text.slice(0, Math.max(mark, 0));
  if (mark < 0 || /^\d/.test(operator)) return { holds: isEqualOrder, value: text };
  const holds = COMPARISONS.get(operator);
  return holds && { holds, value: text.slice(mark + 1) };
}

/** Parses a timestamp to milliseconds with a fraction; NaN if it is malformed. Timestamps without a zone are in UTC. */
export function parseTimestamp(written: string): number {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(written)) return Number.NaN;
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(written.slice(10)) || written.length === 10;
  const microseconds = /\.\d{3}(\d{1,3})/.exec(written)?.[1]?.padEnd(3, '0') ?? '0';
  return Date.parse(hasZone ? written : `${written.replace(' ', 'T')}Z`) + Number(microseconds) / 1000;
}

/** A string comparison that a suffix of the filter name selects, such as `icontains` in `name__icontains=web`. */
type StringComparator = (value: string, expected: string) => boolean;

const STRING_COMPARATORS: ReadonlyMap<string, StringComparator> = new Map(
  Object.entries<StringComparator>({
    contains: (value, expected) => value.includes(expected),
    startswith: (value, expected) => value.startsWith(expected),
    endswith: (value, expected) => value.endsWith(expected),
    equals: (value, expected) => value === expected,
  }),
);

/** Evaluates the filter `name__comparator=expected` for a value. Returns undefined for an unknown comparator. */
export function matchesComparator(value: unknown, comparator: string, expected: string): boolean | undefined {
  const text = String(value ?? '');
  const matches = STRING_COMPARATORS.get(comparator);
  if (matches) return matches(text, expected);
  const matchesAnyCase = comparator.startsWith('i') ? STRING_COMPARATORS.get(comparator.slice(1)) : undefined;
  return matchesAnyCase?.(text.toLowerCase(), expected.toLowerCase());
}

/** Returns a query parameter that occurs exactly once; undefined if it is missing or repeated. */
export function onlyValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  return others.length === 0 ? value : undefined;
}

/** The four tag filters, by query parameter. Their values are comma-separated tags. */
export const TAG_FILTERS: Readonly<Record<string, (tags: readonly string[], expected: readonly string[]) => boolean>> =
  {
    tags: (tags, expected) => expected.every((tag) => tags.includes(tag)),
    'tags-any': (tags, expected) => expected.some((tag) => tags.includes(tag)),
    'not-tags': (tags, expected) => !expected.every((tag) => tags.includes(tag)),
    'not-tags-any': (tags, expected) => !expected.some((tag) => tags.includes(tag)),
  };

/** Filters items by the tag filters in a query string. */
export function filterByTags<W extends Wire>(items: readonly W[], query: URLSearchParams): readonly W[] {
  const filters = Object.entries(TAG_FILTERS).flatMap(([name, holds]) =>
    query.getAll(name).map((value) => ({ holds, tags: value.split(',') })),
  );
  if (filters.length === 0) return items;
  return items.filter((item) =>
    filters.every(({ holds, tags }) => holds((item.tags ?? []) as readonly string[], tags)),
  );
}
