import type { QueryProblem } from '@apistrata/microversion/schema';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The maximum number of characters of request input that a message repeats. */
const MAX_ECHO = 1000;

function truncate(text: string): string {
  return text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}...` : text;
}

/** Literal text between the values of a list or object, such as a comma or a closing bracket. */
class Verbatim {
  constructor(readonly text: string) {}
}

/** Returns the text with which a formatted value begins, and the nested values that follow, in order. */
function openBracket(value: unknown): readonly [begin: string, rest: readonly unknown[]] {
  if (value instanceof Verbatim) return [value.text, []];
  if (value === null || value === undefined) return ['None', []];
  if (typeof value === 'boolean') return [value ? 'True' : 'False', []];
  if (typeof value === 'string') return [`'${value.slice(0, MAX_ECHO)}'`, []];
  if (typeof value !== 'object') return [String(value), []];
  const isList = Array.isArray(value);
  // Each member is at least one character long, so the message never contains more members than this.
  const members = (isList ? value.slice(0, MAX_ECHO) : Object.entries(value).slice(0, MAX_ECHO)) as unknown[];
  const rest = members.flatMap((member, index) => {
    const [key, inner] = isList ? ['', member] : (member as [string, unknown]);
    return [new Verbatim(`${index > 0 ? ', ' : ''}${isList ? '' : `'${key}': `}`), inner];
  });
  return [isList ? '[' : '{', [...rest, new Verbatim(isList ? ']' : '}')]];
}

/**
 * Formats a value in Python notation, which clients of this API expect: single quotes, True, False, None. Truncates
 * long values, and does not recurse, so that deeply nested values do not overflow the stack.
 */
export function show(value: unknown): string {
  const pending = [value];
  let text = '';
  while (pending.length > 0 && text.length <= MAX_ECHO) {
    const [begin, rest] = openBracket(pending.pop());
    text += begin;
    for (let index = rest.length - 1; index >= 0; index--) pending.push(rest[index]);
  }
  return truncate(text);
}

/** Formats a value like `formatValue()`, but omits the quotes around a string. */
function showPlain(value: unknown): string {
  return typeof value === 'string' ? value : show(value);
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value === null || value === undefined ? undefined : (value as any)[key]),
    input,
  );
}

const typeNames: Readonly<Record<string, string>> = { int: 'integer', record: 'object', null: 'null' };

/** Functions that describe the violated schema rule, by issue code. */
const rules: Readonly<Record<string, (issue: any, value: unknown) => string>> = {
  invalid_type: (issue, value) => `${show(value)} is not of type '${typeNames[issue.expected] ?? issue.expected}'`,
  unrecognized_keys: ({ keys }: { keys: readonly string[] }) =>
    `Additional properties are not allowed (${keys
      .slice(0, MAX_ECHO)
      .map((key) => `'${key}'`)
      .join(', ')} ${keys.length > 1 ? 'were' : 'was'} unexpected)`,
  too_small: ({ origin, minimum }, value) => {
    if (origin === 'number' || origin === 'int') return `${show(value)} is less than the minimum of ${minimum}`;
    return origin === 'object' ? `${show(value)} does not have enough properties` : `${show(value)} is too short`;
  },
  too_big: ({ origin, maximum }, value) => {
    if (origin === 'number' || origin === 'int') return `${show(value)} is greater than the maximum of ${maximum}`;
    return origin === 'object' ? `${show(value)} has too many properties` : `${show(value)} is too long`;
  },
  invalid_format: ({ format, pattern }, value) =>
    format === 'regex'
      ? `${show(value)} does not match ${show(String(pattern).replace(/^\/(.*)\/[a-z]*$/s, '$1'))}`
      : `${show(value)} is not a '${format}'`,
  invalid_value: ({ values }: { values: readonly unknown[] }, value) => `${show(value)} is not one of ${show(values)}`,
  invalid_union: (_issue, value) => `${show(value)} is not valid under any of the given schemas`,
  custom: ({ message }) => message,
};

function ruleOf(issue: Issue, value: unknown): string {
  return truncate(rules[issue.code]?.(issue, value) ?? issue.message);
}

/**
 * Returns the message for a body's first validation issue: it contains the field name, the value, and the violated
 * rule.
 */
export function bodyMessage([issue]: readonly Issue[], input: unknown): string {
  if (!issue) throw new TypeError('there is no issue to report');
  const value = valueAt(input, issue.path);
  const missing = issue.code === 'invalid_type' && value === undefined && issue.path.length > 0;
  const path = missing ? issue.path.slice(0, -1) : issue.path;
  const rule = missing ? `'${String(issue.path.at(-1))}' is a required property` : ruleOf(issue, value);
  if (path.length === 0) return rule;
  return `Invalid input for field/attribute ${String(path.at(-1))}. Value: ${truncate(showPlain(valueAt(input, path)))}. ${rule}`;
}

/** Returns the message for the first validation issue in a query string. */
export function queryMessage([problem]: readonly QueryProblem[]): string {
  const [issue] = problem?.issues ?? [];
  if (!problem || !issue) throw new TypeError('there is no issue to report');
  const { parameter, value } = problem;
  return `Invalid input for query parameters ${parameter}. Value: ${truncate(value)}. ${ruleOf(issue, value)}`;
}
