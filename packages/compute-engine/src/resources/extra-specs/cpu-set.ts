import { badRequest } from '../../errors/rejection.js';

const CPU_NUMBER = /^\s*[-+]?\d+\s*$/;
/**
 * The largest CPU number in a parsed range. No flavor has this many CPUs, and longer ranges are truncated to limit the
 * cost of parsing.
 */
const MAX_CPU_NUMBER = 65_536;

function invalidExpression(kind: 'range' | 'exclusion' | 'inclusion', rule: string): Error {
  return badRequest(`Invalid ${kind} expression '${rule}'`);
}

/** Parses a CPU list such as `0-3,^2,7` into a set of CPU numbers. Throws 400 if the list is invalid. */
export function parseCpuSet(text: string): ReadonlySet<number> {
  const includedCpus = new Set<number>();
  const excludedCpus = new Set<number>();
  for (const rule of text.split(',').map((part) => part.trim())) {
    if (rule === '') continue;
    const isExclusion = rule.startsWith('^');
    const targetCpus = isExclusion ? excludedCpus : includedCpus;
    const [first = '', ...rest] = (isExclusion ? rule.slice(1) : rule).split('-');
    if (rest.length === 0) {
      if (!CPU_NUMBER.test(first)) throw invalidExpression(isExclusion ? 'exclusion' : 'inclusion', rule);
      targetCpus.add(Number(first));
      continue;
    }
    const last = rest.join('-');
    if (!CPU_NUMBER.test(first) || !CPU_NUMBER.test(last) || Number(first) > Number(last))
      throw invalidExpression('range', rule);
    for (let cpu = Number(first); cpu <= Math.min(Number(last), MAX_CPU_NUMBER); cpu++) targetCpus.add(cpu);
  }
  for (const cpu of excludedCpus) includedCpus.delete(cpu);
  return includedCpus;
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
