import { createRequire } from 'node:module';
import type { Node } from 'yaml';
import { PolicyConfigError } from './policy-errors.js';

/** One entry in a policy file. */
export interface PolicyFileEntry {
  readonly rule: string;
  readonly expression: string;
  /** Line number, starting at 1. */
  readonly line: number;
}

/**
 * Parses a policy file: a YAML mapping of rule names to expressions, or JSON, which is a subset of YAML.
 *
 * @throws PolicyConfigError with file and line
 */
export function parsePolicyFile(text: string, file: string): readonly PolicyFileEntry[] {
  // The package `yaml` is loaded only if a policy file is configured.
  const { isMap, isScalar, LineCounter, parseDocument }: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  const counter = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    lineCounter: counter,
    prettyErrors: false,
    uniqueKeys: false,
    // The `failsafe` schema parses all scalars as strings, including rule names and expressions such as 1 or true.
    schema: 'failsafe',
  });
  const lineAt = (position: number) => Math.max(1, counter.linePos(position).line);
  const throwConfigError = (problem: string, line: number, cause?: unknown): never => {
    throw new PolicyConfigError(problem, { file, line }, cause);
  };
  const [fault] = document.errors;
  if (fault) throwConfigError(fault.message, lineAt(fault.pos[0]), fault);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && !contents.value)) return [];
  if (!isMap(contents)) return throwConfigError('expected lines like "rule": "expression"', lineOf(contents, lineAt));

  const entries: PolicyFileEntry[] = [];
  const lines = new Map<string, number>();
  for (const { key, value } of contents.items as readonly { key: Node; value: Node | null }[]) {
    const line = lineOf(key, lineAt);
    const rule = isScalar(key) ? String(key.value) : throwConfigError('a rule name must be a string', line);
    // If an entry does not have a value, its value node has length 0.
    const missing = value === null || (isScalar(value) && !value.value && value.type === 'PLAIN');
    if (missing) throwConfigError('the expression is missing; write "" to allow every caller', line);
    const expression = isScalar(value)
      ? String(value.value)
      : throwConfigError(`"${rule}" must be an expression in quotes`, line);
    const first = lines.get(rule);
    if (first !== undefined) throwConfigError(`"${rule}" is already set on line ${first}`, line);
    lines.set(rule, line);
    entries.push({ rule, expression, line });
  }
  return entries;
}

function lineOf(node: Node, lineAt: (position: number) => number): number {
  return lineAt(node.range?.[0] ?? 0);
}
