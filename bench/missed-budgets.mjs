import { rowsOf } from './results.mjs';

// Bounds relative to other figures, such as `<= bare + 0.12 ms`, are not checked.
/** A bound such as `<= 20 ms` or `>= 1500/s`. */
const BOUND = /(<=|>=|<|>) ([\d.,]+)(?: ?(x)\b)?/g;

/** Rows whose budget exempts them, because their cost grows with the response: `but for a page of 1000`. */
const EXEMPT = /\bbut for\b/;

/** Why rows miss their budgets. The first pattern that matches `section: subject` applies. */
const REASONS = [
  [
    /^compute-postgres: .*two processes/,
    'two processes need four processors, because the load generator and PostgreSQL use two',
  ],
  [
    /^compute(-postgres)?: POST/,
    'the load generator, the API and the database share two processors; with few clients, each creation waits for its own commits and round trips',
  ],
  [/^import-time: /, 'finding, reading and compiling 143 files, including those of Express'],
  [
    /^operations: .*(with_servers|\{id\}\/servers|os-hosts)/,
    'reads all servers of a host, which has ten times as many',
  ],
  [/^operations: /, 'not explained, or within the spread; far below 20 ms'],
  [/^small-reads: /, 'a query for each request, because other processes may have changed the data'],
  [/^workers: /, 'the load generator and the workers share two processors'],
  [/^hosts: /, 'the request and its response are separate transactions on PostgreSQL'],
  [/^cold: /, 'reads, decodes and writes 100 servers that are not cached'],
  [/^quota: Redis/, 'reserving and committing are two requests to Redis; `consume` is one'],
];

const isWithin = (value, operator, bound) =>
  ({ '<=': value <= bound, '<': value < bound, '>=': value >= bound, '>': value > bound })[operator];

function isMissed({ ours, ratio, budget }) {
  if (!budget || EXEMPT.test(budget)) return false;
  return Array.from(budget.matchAll(BOUND)).some(([, operator, number, isRatio]) => {
    const value = (isRatio ? ratio : ours)?.median;
    return value !== undefined && !isWithin(value, operator, Number(number.replaceAll(',', '')));
  });
}

/** Returns the rows of a results file whose medians miss their budgets, as a Markdown table with reasons. */
export function missedBudgets(markdown) {
  const lines = [...rowsOf(markdown)].flatMap(([subject, row]) => {
    if (!isMissed(row)) return [];
    const { ours, unit, ratio, budget } = row;
    const figure = `${ours.median} ${unit}${ratio ? `, ${ratio.median} x` : ''}`;
    const [, reason = ''] = REASONS.find(([pattern]) => pattern.test(subject)) ?? [];
    return [`| ${subject} | ${figure} | ${budget} | ${reason} |`];
  });
  return ['| what | measured | budget | reason |', '|---|---|---|---|', ...lines].join('\n');
}
