import type { QueryProblem } from '@apistrata/microversion/schema';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The longest piece of a caller's own input that is sent back. */
const LONGEST_ECHO = 1000;

function cut(text: string): string {
  return text.length > LONGEST_ECHO ? `${text.slice(0, LONGEST_ECHO)}...` : text;
}

/** Text that stands as it is, among values that have yet to be written. */
class Verbatim {
  constructor(readonly text: string) {}
}

/** What a value begins with when it is written, and what is left of it, in order. */
function opened(value: unknown): readonly [begin: string, rest: readonly unknown[]] {
  if (value instanceof Verbatim) return [value.text, []];
  if (value === null || value === undefined) return ['None', []];
  if (typeof value === 'boolean') return [value ? 'True' : 'False', []];
  if (typeof value === 'string') return [`'${value.slice(0, LONGEST_ECHO)}'`, []];
  if (typeof value !== 'object') return [String(value), []];
  const isList = Array.isArray(value);
  // Each member takes a character at the least, so that more of them are never seen.
  const members = (isList ? value.slice(0, LONGEST_ECHO) : Object.entries(value).slice(0, LONGEST_ECHO)) as unknown[];
  const rest = members.flatMap((member, index) => {
    const [key, inner] = isList ? ['', member] : (member as [string, unknown]);
    return [new Verbatim(`${index > 0 ? ', ' : ''}${isList ? '' : `'${key}': `}`), inner];
  });
  return [isList ? '[' : '{', [...rest, new Verbatim(isList ? ']' : '}')]];
}

/**
 * A value in the notation that clients of this API know from its messages: single quotes, True, False, None. It ends
 * where nobody will read on, and no value is too deep for it.
 */
export function show(value: unknown): string {
  const left = [value];
  let text = '';
  while (left.length > 0 && text.length <= LONGEST_ECHO) {
    const [begin, rest] = opened(left.pop());
    text += begin;
    for (let index = rest.length - 1; index >= 0; index--) left.push(rest[index]);
  }
  return cut(text);
}

/** The same without quotes around a whole text. */
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

/** The rule broken, for each kind of issue. */
const rules: Readonly<Record<string, (issue: any, value: unknown) => string>> = {
  invalid_type: (issue, value) => `${show(value)} is not of type '${typeNames[issue.expected] ?? issue.expected}'`,
  unrecognized_keys: ({ keys }: { keys: readonly string[] }) =>
    `Additional properties are not allowed (${keys
      .slice(0, LONGEST_ECHO)
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
  return cut(rules[issue.code]?.(issue, value) ?? issue.message);
}

/** Text of the first fault of a body: the last element of its path, its value, the rule broken. */
export function bodyMessage(issues: readonly Issue[], input: unknown): string {
  const issue = issues[0]!;
  const value = valueAt(input, issue.path);
  const missing = issue.code === 'invalid_type' && value === undefined && issue.path.length > 0;
  const path = missing ? issue.path.slice(0, -1) : issue.path;
  const rule = missing ? `'${String(issue.path.at(-1))}' is a required property` : ruleOf(issue, value);
  if (path.length === 0) return rule;
  return `Invalid input for field/attribute ${String(path.at(-1))}. Value: ${cut(showPlain(valueAt(input, path)))}. ${rule}`;
}

/** The same for a query parameter. */
export function queryMessage([problem]: readonly QueryProblem[]): string {
  const { parameter, value, issues } = problem!;
  return `Invalid input for query parameters ${parameter}. Value: ${cut(value)}. ${ruleOf(issues[0]!, value)}`;
}
