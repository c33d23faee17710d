/** The part of a zod issue that this program uses. */
export interface Issue {
  readonly code: string;
  readonly message: string;
  readonly expected?: string;
  readonly input?: unknown;
  readonly keys?: readonly string[];
  readonly values?: readonly unknown[];
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly origin?: string;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with "name: value" entries',
};

const looksNumeric = (source: string | undefined) => source !== undefined && /^-?[\d.]+$/.test(source);

/**
 * Returns the end of an error message that begins with the name of a value, such as `must be an integer; it is "x"`.
 *
 * @param source the value as the user wrote it
 */
export function expectationOf(issue: Issue, source: string | undefined): string {
  const actualText = source === undefined ? '' : `; it is "${source}"`;
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'string' && looksNumeric(source)) return `must be a string: put it in quotes, "${source}"`;
      return `must be ${TYPE_NAMES[issue.expected ?? ''] ?? issue.expected}${actualText}`;
    case 'invalid_value':
      return `must be one of ${issue.values?.join(', ')}${actualText}`;
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      return `must be at least ${issue.minimum}${actualText}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${actualText}`;
    case 'invalid_union':
      return `must be a string, true or false${actualText}`;
    default:
      return `is invalid${actualText}: ${issue.message}`;
  }
}
