import { PolicyConfigError } from './policy-errors.js';

/** One line of a policy file. */
export interface PolicyFileEntry {
  readonly rule: string;
  readonly expression: string;
  /** Counts from 1. */
  readonly line: number;
}

/**
 * Reads the text of a policy file: a JSON object of strings, or lines `"rule": "expression"` with `#` comments (the
 * part of YAML that policy files use; quotes may be single, double or left out).
 *
 * @throws PolicyConfigError with the file and the line
 */
export function parsePolicyFile(text: string, file: string): readonly PolicyFileEntry[] {
  const body = text.replace(/^\uFEFF/, '');
  const entries = /^\s*\{/.test(body) ? jsonEntries(body, file) : lineEntries(body, file);
  const lines = new Map<string, number>();
  for (const { rule, line } of entries) {
    const first = lines.get(rule);
    if (first !== undefined) throw new PolicyConfigError(`"${rule}" is already set on line ${first}`, { file, line });
    lines.set(rule, line);
  }
  return entries;
}

const JSON_STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\.)*"`;
const JSON_TOKEN = new RegExp(String.raw`\s*([{}:,]|${JSON_STRING}|$)`, 'y');

function jsonEntries(text: string, file: string): PolicyFileEntry[] {
  const entries: PolicyFileEntry[] = [];
  let at = 0;

  /** The next token, which has to match; JSON.parse alone would not tell the line. */
  function take(wanted: RegExp, what: string): { readonly token: string; readonly line: number } {
    JSON_TOKEN.lastIndex = at;
    const token = JSON_TOKEN.exec(text)?.[1];
    const end = token === undefined ? at + /^\s*/.exec(text.slice(at))![0].length : JSON_TOKEN.lastIndex;
    const line = text.slice(0, end).split('\n').length;
    if (token === undefined || !wanted.test(token))
      throw new PolicyConfigError(`${what} is expected here`, { file, line });
    at = JSON_TOKEN.lastIndex;
    return { token, line };
  }

  function string(what: string): { readonly value: string; readonly line: number } {
    const { token, line } = take(/^"/, what);
    try {
      return { value: JSON.parse(token) as string, line };
    } catch (cause) {
      throw new PolicyConfigError('this is not a JSON string', { file, line }, cause);
    }
  }

  take(/^\{$/, '{');
  let { token } = take(/^[}"]/, 'a rule name in double quotes or }');
  while (token !== '}') {
    at -= token.startsWith('"') ? token.length : 0;
    const rule = string('a rule name in double quotes');
    take(/^:$/, ':');
    entries.push({ rule: rule.value, expression: string('an expression in double quotes').value, line: rule.line });
    ({ token } = take(/^[,}]$/, ', or }'));
  }
  take(/^$/, 'the end of the file');
  return entries;
}

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'`;
const LINE = new RegExp(
  String.raw`^(${QUOTED}|[^\s"'#{}\[\]|>&*!%@-][^"'#]*?)\s*:(?:\s+(${QUOTED}|[^\s"'#][^#]*?))?\s*(?:\s#.*)?$`,
);

function lineEntries(text: string, file: string): PolicyFileEntry[] {
  const entries: PolicyFileEntry[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    if (/^\s*(#.*)?$/.test(raw) || /^(---|\.\.\.)\s*$/.test(raw)) continue;
    const match = LINE.exec(raw);
    if (!match) throw new PolicyConfigError('expected a line like "rule": "expression"', { file, line });
    if (match[2] === undefined)
      throw new PolicyConfigError('the expression is missing; write "" for everybody', { file, line });
    entries.push({ rule: unquote(match[1]!, file, line), expression: unquote(match[2], file, line), line });
  }
  return entries;
}

function unquote(text: string, file: string, line: number): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch (cause) {
    throw new PolicyConfigError('this is not a text in double quotes', { file, line }, cause);
  }
}
