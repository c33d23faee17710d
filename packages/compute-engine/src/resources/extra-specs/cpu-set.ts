import { badRequest } from '../../errors/rejection.js';

const NUMBER = /^\s*[-+]?\d+\s*$/;
/**
 * The largest CPU number in a parsed range. No flavor has this many CPUs, and longer ranges are truncated to limit the
 * cost of parsing.
 */
const MAX_CPUS = 65_536;

function invalid(kind: 'range' | 'exclusion' | 'inclusion', rule: string): Error {
  return badRequest(`Invalid ${kind} expression '${rule}'`);
}

/** Parses a CPU list such as `0-3,^2,7` into a set of CPU numbers. Throws 400 if the list is invalid. */
export function parseCpuSet(text: string): ReadonlySet<number> {
  const included = new Set<number>();
  const excluded = new Set<number>();
  for (const rule of text.split(',').map((part) => part.trim())) {
    if (rule === '') continue;
    const excludes = rule.startsWith('^');
    const target = excludes ? excluded : included;
    const [first = '', ...rest] = (excludes ? rule.slice(1) : rule).split('-');
    if (rest.length === 0) {
      if (!NUMBER.test(first)) throw invalid(excludes ? 'exclusion' : 'inclusion', rule);
      target.add(Number(first));
      continue;
    }
    const last = rest.join('-');
    if (!NUMBER.test(first) || !NUMBER.test(last) || Number(first) > Number(last)) throw invalid('range', rule);
    for (let cpu = Number(first); cpu <= Math.min(Number(last), MAX_CPUS); cpu++) target.add(cpu);
  }
  for (const cpu of excluded) included.delete(cpu);
  return included;
}

/** Returns the CPU numbers `0` to `count - 1`. */
export function firstCpus(count: number): ReadonlySet<number> {
  return new Set(Array.from({ length: count }, (_, cpu) => cpu));
}

/** Parses a mask of a flavor's CPUs. A mask that starts with `^` contains all CPUs except the listed ones. */
export function parseCpuMask(mask: string, vcpus: number): ReadonlySet<number> {
  return parseCpuSet(mask.trim().startsWith('^') ? `0-${vcpus - 1},${mask}` : mask);
}

export function isSubset(part: ReadonlySet<number>, superset: ReadonlySet<number>): boolean {
  return [...part].every((cpu) => superset.has(cpu));
}
