import type { Wire } from './listing.js';

/** Whether a value is what a parameter of the query says: text against whatever it is. */
export function sameValue(value: unknown, expected: string): boolean {
  if (typeof value === 'boolean') return ['true', '1', 'yes', 't', 'on'].includes(expected.toLowerCase()) === value;
  if (Array.isArray(value)) return value.some((item) => sameItem(item, expected));
  return String(value ?? '') === expected;
}

/** An item of a list: a text, or an object of which `key=value` is asked. */
function sameItem(item: unknown, expected: string): boolean {
  if (typeof item !== 'object' || item === null) return String(item) === expected;
  const mark = expected.indexOf('=');
  return mark > 0 && String((item as Wire)[expected.slice(0, mark)]) === expected.slice(mark + 1);
}

/** Comparisons that are written before a value: `gte:2026-01-01T00:00:00Z`. */
type Holds = (order: number) => boolean;

const equal: Holds = (order) => order === 0;

const COMPARISONS: ReadonlyMap<string, Holds> = new Map(
  Object.entries<Holds>({
    gt: (order) => order > 0,
    gte: (order) => order >= 0,
    lt: (order) => order < 0,
    lte: (order) => order <= 0,
    eq: equal,
    neq: (order) => order !== 0,
  }),
);

/** What `gte:value` says; without an operator it is `eq`. `holds` takes how much larger the other value is. */
interface Comparison {
  readonly holds: Holds;
  readonly value: string;
}

/** Reads a comparison. Undefined: an operator that nobody knows. */
export function comparison(text: string): Comparison | undefined {
  const mark = text.indexOf(':');
  const operator = text.slice(0, Math.max(mark, 0));
  if (mark < 0 || /^\d/.test(operator)) return { holds: equal, value: text };
  const holds = COMPARISONS.get(operator);
  return holds && { holds, value: text.slice(mark + 1) };
}

/** A moment as clients write it, in milliseconds with a fraction; without a zone, UTC. NaN for anything else. */
export function momentOf(written: string): number {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(written)) return Number.NaN;
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(written.slice(10)) || written.length === 10;
  const beyond = /\.\d{3}(\d{1,3})/.exec(written)?.[1]?.padEnd(3, '0') ?? '0';
  return Date.parse(zoned ? written : `${written.replace(' ', 'T')}Z`) + Number(beyond) / 1000;
}

/** Comparisons of text that are written behind a name: `name__icontains=web`. */
type Matches = (value: string, expected: string) => boolean;

const INEXACT: ReadonlyMap<string, Matches> = new Map(
  Object.entries<Matches>({
    contains: (value, expected) => value.includes(expected),
    startswith: (value, expected) => value.startsWith(expected),
    endswith: (value, expected) => value.endsWith(expected),
    equals: (value, expected) => value === expected,
  }),
);

/** Whether `name__comparator=expected` holds; undefined for a comparator that there is not. */
export function inexact(value: unknown, comparator: string, expected: string): boolean | undefined {
  const text = String(value ?? '');
  const matches = INEXACT.get(comparator);
  if (matches) return matches(text, expected);
  const matchesAnyCase = comparator.startsWith('i') ? INEXACT.get(comparator.slice(1)) : undefined;
  return matchesAnyCase?.(text.toLowerCase(), expected.toLowerCase());
}

/** The value of a parameter that is given once; undefined for one that is not, or several times. */
export function onlyValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  return others.length === 0 ? value : undefined;
}

/** The four ways in which lists are narrowed by tags; each takes tags joined by commas. */
export const TAG_FILTERS: Readonly<Record<string, (tags: readonly string[], expected: readonly string[]) => boolean>> =
  {
    tags: (tags, expected) => expected.every((tag) => tags.includes(tag)),
    'tags-any': (tags, expected) => expected.some((tag) => tags.includes(tag)),
    'not-tags': (tags, expected) => !expected.every((tag) => tags.includes(tag)),
    'not-tags-any': (tags, expected) => !expected.some((tag) => tags.includes(tag)),
  };

/** Narrows by the tag parameters of a query. */
export function filteredByTags<W extends Wire>(items: readonly W[], query: URLSearchParams): readonly W[] {
  const filters = Object.entries(TAG_FILTERS).flatMap(([name, holds]) =>
    query.getAll(name).map((value) => ({ holds, tags: value.split(',') })),
  );
  if (filters.length === 0) return items;
  return items.filter((item) =>
    filters.every(({ holds, tags }) => holds((item.tags ?? []) as readonly string[], tags)),
  );
}
