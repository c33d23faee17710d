import { propertyOf } from './host-properties.js';
import type { HostUsage } from './host-usage.js';
import type { Host } from './infrastructure.js';

type TermValue = string | number | boolean | null;

const comparison = (fits: (one: any, other: any) => boolean) => (values: readonly TermValue[]) =>
  values.length > 1 && values.slice(1).every((value) => typeof value === typeof values[0] && fits(values[0], value));

type Operator = (values: readonly TermValue[]) => boolean;

const operators: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    '=': comparison((a, b) => a === b),
    '<': comparison((a, b) => a < b),
    '>': comparison((a, b) => a > b),
    '<=': comparison((a, b) => a <= b),
    '>=': comparison((a, b) => a >= b),
    in: ([first, ...others]) => others.includes(first as TermValue),
    not: (values) => values.every((value) => !value),
    and: (values) => values.every(Boolean),
    or: (values) => values.some(Boolean),
  }),
);

const MAX_LEVELS = 20;

/**
 * Returns whether a host matches a `query` hint, such as
 * `["and", [">=", "$free_ram_mb", 1024], ["=", "$host", "host1"]]`.
 */
export function matchesQuery(query: unknown, host: Host, usage: HostUsage | undefined): boolean {
  let parsed = query;
  if (typeof query === 'string') {
    try {
      parsed = JSON.parse(query);
    } catch {
      return false;
    }
  }
  return Boolean(termValue(parsed, host, usage, 0));
}

function termValue(term: unknown, host: Host, usage: HostUsage | undefined, level: number): TermValue {
  if (typeof term === 'string' && term.startsWith('$')) {
    const value = propertyOf(host, usage, term.slice(1));
    return typeof value === 'object' || value === undefined ? null : value;
  }
  if (Array.isArray(term)) {
    const [name, ...rest] = term;
    const operator = operators.get(String(name));
    if (level >= MAX_LEVELS || !operator) return false;
    return operator(rest.map((inner) => termValue(inner, host, usage, level + 1)));
  }
  return typeof term === 'object' || term === undefined ? null : (term as TermValue);
}
