import { readFileSync } from 'node:fs';
import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import type { OptionKind } from './option-kinds.js';
import { type OptionName, optionTable } from './options.js';
import { StartError } from './start-error.js';
import { suggestionFor } from './suggestion.js';
import { expectationOf, type Issue } from './value-expectation.js';

const optionEntries = Object.entries(optionTable) as [OptionName, OptionKind<unknown>][];

const configSchema = z
  .strictObject(
    Object.fromEntries(
      optionEntries.flatMap(([name, { schema, help, fallback }]) => {
        if (!schema) return [];
        const describedSchema = schema.describe(help);
        return [
          [name, (fallback === undefined ? describedSchema : describedSchema.meta({ default: fallback })).optional()],
        ];
      }),
    ),
  )
  .meta({ title: 'Configuration of the Apistrata server' });

/** Returns the JSON Schema of the configuration file. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
}

type ValuePath = readonly (string | number)[];

/** A parsed configuration file, with the positions of its lines. */
interface ParsedFile {
  readonly document: Document;
  readonly lines: LineCounter;
}

/** Returns the line number of a key or value, such as ` (line 3)`; an empty string for the document itself. */
function lineOf({ document, lines }: ParsedFile, path: ValuePath): string {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  const node = (pair?.key ?? (path.length > 0 ? document.getIn(path, true) : undefined)) as Node | undefined;
  const startOffset = node?.range?.[0];
  return startOffset === undefined ? '' : ` (line ${lines.linePos(startOffset).line})`;
}

/** Returns a value exactly as the file spells it, because YAML parses `2.100` as the number 2.1. */
function sourceOf({ document }: ParsedFile, path: ValuePath): string | undefined {
  const node = document.getIn(path, true);
  return isScalar(node) ? (node.source ?? String(node.value)) : undefined;
}

function keysOf(path: ValuePath): readonly string[] {
  const schema = path.length === 0 ? configSchema : configSchema.shape[String(path[0])];
  const innerSchema = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return innerSchema instanceof z.ZodObject ? Object.keys(innerSchema.shape) : [];
}

function describeIssue(parsed: ParsedFile, { path, ...issue }: Issue & { readonly path: ValuePath }): string {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys ?? [];
    const parentLabel = path.length > 0 ? ` of "${path.join('.')}"` : '';
    const fallbackHint =
      path.length > 0 ? `Known options: ${keysOf(path).join(', ')}.` : '--print-config-schema lists all options.';
    return `unknown option "${key}"${parentLabel}${lineOf(parsed, [...path, key])}. ${suggestionFor(key, keysOf(path), fallbackHint)}`;
  }
  if (path.length === 0) return 'the file must be a mapping of option names to values, such as "port: 8774"';
  const source = sourceOf(parsed, path);
  return `"${path.join('.')}"${lineOf(parsed, path)} ${expectationOf(issue, source)}`;
}

/**
 * Reads a configuration file in YAML or JSON.
 *
 * @throws StartError with the file, the line, the problem and the fix
 */
export function readConfigFile(file: string): Partial<Record<OptionName, unknown>> {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines });
  const [syntaxError] = document.errors;
  if (syntaxError) throw new StartError(`--config ${file}: ${syntaxError.message.replace(/:?\n[\s\S]*/, '')}`);
  const parsed = configSchema.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  throw new StartError(`--config ${file}: ${describeIssue({ document, lines }, parsed.error.issues[0] as never)}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`--config ${file} cannot be read: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'the file does not exist';
  if (code === 'EACCES') return 'permission denied';
  return code === 'EISDIR' ? 'it is a folder' : message;
}
