import { type PropertyGroup, type PropertyValue, propertyOf } from './host-properties.js';
import type { HostUsage } from './host-usage.js';
import type { Host } from './infrastructure.js';

type Comparison = (value: string, operands: readonly string[]) => boolean;

const numericComparison =
  (compare: (one: number, other: number) => boolean): Comparison =>
  (value, [operand = '']) =>
    value.trim() !== '' && operand !== '' && compare(Number(value), Number(operand));

const stringComparison =
  (compare: (one: string, other: string) => boolean): Comparison =>
  (value, [operand = '']) =>
    compare(value, operand);

/**
 * Operators at the start of a requirement. Operators that start with `s` compare strings; the others compare numbers.
 */
const operators: ReadonlyMap<string, Comparison> = new Map(
  Object.entries<Comparison>({
    '=': numericComparison((a, b) => a >= b),
    '==': numericComparison((a, b) => a === b),
    '!=': numericComparison((a, b) => a !== b && !Number.isNaN(a - b)),
    '>=': numericComparison((a, b) => a >= b),
    '<=': numericComparison((a, b) => a <= b),
    's==': stringComparison((a, b) => a === b),
    's!=': stringComparison((a, b) => a !== b),
    's<': stringComparison((a, b) => a < b),
    's<=': stringComparison((a, b) => a <= b),
    's>': stringComparison((a, b) => a > b),
    's>=': stringComparison((a, b) => a >= b),
    '<in>': stringComparison((a, b) => a.includes(b)),
    '<all-in>': (value, operands) => operands.every((operand) => value.includes(operand)),
  }),
);

/**
 * Returns whether a value fulfills a requirement, such as `>= 1024`, `s== x86_64`, `<or> a <or> b`, or just the value.
 */
export function fulfills(value: string, requirement: string): boolean {
  const [operator = '', ...operands] = requirement.trim().split(/\s+/);
  // The values of alternatives are at even positions, between repeated operators.
  if (operator === '<or>') return operands.some((operand, index) => index % 2 === 0 && operand === value);
  const compare = operators.get(operator);
  if (!compare) return value === requirement;
  return operands.length > 0 && compare(value, operands);
}

/** Formats a value as Nova does for comparisons, with lists and booleans in Python notation. */
function formatValue(value: PropertyValue): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(', ')}]`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const isPropertyGroup = (value: PropertyValue | undefined): value is PropertyGroup =>
  typeof value === 'object' && !Array.isArray(value);

/** A requirement that an extra spec places on a host property. */
export interface CapabilityRequirement {
  /** The name of the property, followed by the names of nested values. */
  readonly path: readonly string[];
  readonly requirement: string;
  /** Whether the extra spec is ignored if hosts do not have the property. */
  readonly optional: boolean;
}

/**
 * Returns the requirements of extra specs whose key is like `capabilities:cpu_info:vendor` or is the name of a
 * property.
 */
export function capabilityRequirements(extraSpecs: Readonly<Record<string, string>>): readonly CapabilityRequirement[] {
  return Object.entries(extraSpecs).flatMap(([key, requirement]) => {
    const names = key.split(':');
    const optional = names.length === 1;
    if (!optional && names[0] !== 'capabilities') return [];
    return { path: optional ? names : names.slice(1), requirement, optional };
  });
}

/** Returns whether the properties of a host meet the requirements. */
export function hasCapabilities(
  host: Host,
  usage: HostUsage | undefined,
  requirements: readonly CapabilityRequirement[],
): boolean {
  return requirements.every(({ path: [first = '', ...rest], requirement, optional }) => {
    let value = propertyOf(host, usage, first);
    if (value === undefined && optional) return true;
    for (const name of rest) value = isPropertyGroup(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return value !== undefined && fulfills(formatValue(value), requirement);
  });
}
