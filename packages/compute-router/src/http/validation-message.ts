import type { QueryProblem } from '@apistrata/microversion/schema';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The maximum number of characters of request input that a message repeats. */
const MAX_ECHO_LENGTH = 1000;

function truncate(text: string): string {
  return text.length > MAX_ECHO_LENGTH ? `${text.slice(0, MAX_ECHO_LENGTH)}...` : text;
}

/** Literal text between the values of a list or object, such as a comma or a closing bracket. */
class LiteralText {
  constructor(readonly text: string) {}
}

/** Returns the beginning of a formatted value as text, and the nested values that follow it, in order. */
function expandValue(value: unknown): readonly [begin: string, rest: readonly unknown[]] {
  if (value instanceof LiteralText) return [value.text, []];
  if (value === null || value === undefined) return ['None', []];
  if (typeof value === 'boolean') return [value ? 'True' : 'False', []];
  if (typeof value === 'string') return [`'${value.slice(0, MAX_ECHO_LENGTH)}'`, []];
  if (typeof value !== 'object') return [String(value), []];
  const isList = Array.isArray(value);
  // Each member adds at least one character, so a truncated message never contains more than MAX_ECHO_LENGTH members.
  const members = (
    isList ? value.slice(0, MAX_ECHO_LENGTH) : Object.entries(value).slice(0, MAX_ECHO_LENGTH)
  ) as unknown[];
  const rest = members.flatMap((member, index) => {
    const [key, inner] = isList ? ['', member] : (member as [string, unknown]);
    return [new LiteralText(`${index > 0 ? ', ' : ''}${isList ? '' : `'${key}': `}`), inner];
  });
  return [isList ? '[' : '{', [...rest, new LiteralText(isList ? ']' : '}')]];
}

/**
 * Formats a value in Python notation, which clients of this API expect: single quotes, True, False, None. Truncates
 * long values, and does not recurse, so that deeply nested values do not overflow the stack.
 */
export function formatValue(value: unknown): string {
  const pendingValues = [value];
  let text = '';
  while (pendingValues.length > 0 && text.length <= MAX_ECHO_LENGTH) {
    const [begin, rest] = expandValue(pendingValues.pop());
    text += begin;
    for (let index = rest.length - 1; index >= 0; index--) pendingValues.push(rest[index]);
  }
  return truncate(text);
}

/** Formats a value like `formatValue()`, but omits the quotes around a string. */
function formatUnquoted(value: unknown): string {
  return typeof value === 'string' ? value : formatValue(value);
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value === null || value === undefined ? undefined : (value as any)[key]),
    input,
  );
}

const typeNames: Readonly<Record<string, string>> = { int: 'integer', record: 'object', null: 'null' };

/** Functions that describe the violated schema rule, by issue code. */
const ruleDescriptions: Readonly<Record<string, (issue: any, value: unknown) => string>> = {
  invalid_type: (issue, value) =>
    `${formatValue(value)} is not of type '${typeNames[issue.expected] ?? issue.expected}'`,
  unrecognized_keys: ({ keys }: { keys: readonly string[] }) =>
    `Additional properties are not allowed (${keys
      .slice(0, MAX_ECHO_LENGTH)
      .map((key) => `'${key}'`)
      .join(', ')} ${keys.length > 1 ? 'were' : 'was'} unexpected)`,
  too_small: ({ origin, minimum }, value) => {
    if (origin === 'number' || origin === 'int') return `${formatValue(value)} is less than the minimum of ${minimum}`;
    return origin === 'object'
      ? `${formatValue(value)} does not have enough properties`
      : `${formatValue(value)} is too short`;
  },
  too_big: ({ origin, maximum }, value) => {
    if (origin === 'number' || origin === 'int')
      return `${formatValue(value)} is greater than the maximum of ${maximum}`;
    return origin === 'object' ? `${formatValue(value)} has too many properties` : `${formatValue(value)} is too long`;
  },
  invalid_format: ({ format, pattern }, value) =>
    format === 'regex'
      ? `${formatValue(value)} does not match ${formatValue(String(pattern).replace(/^\/(.*)\/[a-z]*$/s, '$1'))}`
      : `${formatValue(value)} is not a '${format}'`,
  invalid_value: ({ values }: { values: readonly unknown[] }, value) =>
    `${formatValue(value)} is not one of ${formatValue(values)}`,
  invalid_union: (_issue, value) => `${formatValue(value)} is not valid under any of the given schemas`,
  custom: ({ message }) => message,
};

function describeRule(issue: Issue, value: unknown): string {
  return truncate(ruleDescriptions[issue.code]?.(issue, value) ?? issue.message);
}

/**
 * Returns the message for a body's first validation issue: it contains the field name, the value, and the violated
 * rule.
 */
export function bodyMessage([issue]: readonly Issue[], input: unknown): string {
  if (!issue) throw new TypeError('there is no issue to report');
  const value = valueAt(input, issue.path);
  const isMissing = issue.code === 'invalid_type' && value === undefined && issue.path.length > 0;
  const path = isMissing ? issue.path.slice(0, -1) : issue.path;
  const rule = isMissing ? `'${String(issue.path.at(-1))}' is a required property` : describeRule(issue, value);
  if (path.length === 0) return rule;
  return `Invalid input for field/attribute ${String(path.at(-1))}. Value: ${truncate(formatUnquoted(valueAt(input, path)))}. ${rule}`;
}

/** Returns the message for the first validation issue in a query string. */
export function queryMessage([problem]: readonly QueryProblem[]): string {
  const [issue] = problem?.issues ?? [];
  if (!problem || !issue) throw new TypeError('there is no issue to report');
  const { parameter, value } = problem;
  return `Invalid input for query parameters ${parameter}. Value: ${truncate(value)}. ${describeRule(issue, value)}`;
}
