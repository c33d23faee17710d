import type { ServerResponse } from 'node:http';

type HeaderValue = number | string | readonly string[];

/** Removes header names from Vary lines. Lines that become empty are omitted. */
function linesWithout(value: HeaderValue, names: readonly string[]): string[] {
  const removed = new Set(names.map((name) => name.toLowerCase()));
  return (Array.isArray(value) ? value : [String(value)])
    .map((line: string) =>
      line
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '' && !removed.has(entry.toLowerCase()))
        .join(', '),
    )
    .filter((line) => line !== '');
}

/** Appends one Vary line per header name and returns all lines. Names that exist already move to the end. */
export function appendVary(res: ServerResponse, names: readonly string[]): readonly string[] {
  const present = res.getHeader('vary');
  // Copied, because Node's appendHeader modifies the list that setHeader received.
  const lines = present === undefined ? names.slice() : [...linesWithout(present, names), ...names];
  res.setHeader('Vary', lines);
  return lines;
}

/**
 * Splits headers that are passed to `writeHead` into Vary values and other headers. Returns undefined if there is no
 * Vary header.
 */
function splitVary(head: object): { readonly vary: HeaderValue[]; readonly rest: object } | undefined {
  const vary: HeaderValue[] = [];
  if (Array.isArray(head)) {
    const rest: unknown[] = [];
    for (let i = 0; i + 1 < head.length; i += 2) {
      if (String(head[i]).toLowerCase() === 'vary') vary.push(head[i + 1]);
      else rest.push(head[i], head[i + 1]);
    }
    return vary.length > 0 ? { vary, rest } : undefined;
  }
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(head)) {
    if (name.toLowerCase() !== 'vary') rest[name] = value;
    else if (value !== undefined) vary.push(value);
  }
  return vary.length > 0 ? { vary, rest } : undefined;
}

/** The state that {@link preserveVary} stores on a response. */
interface Preserved {
  readonly names: readonly string[];
  /**
   * The Vary lines that were set, and their number, which reveals whether Node's appendHeader has modified the list in
   * place.
   */
  readonly lines: readonly string[];
  readonly length: number;
  readonly writeHead: (...parts: unknown[]) => ServerResponse;
  /** The state that an earlier call has stored on the same response. */
  readonly outer: Preserved | undefined;
}

const PRESERVED = Symbol('preserved Vary');

type PreservedResponse = ServerResponse & { [PRESERVED]?: Preserved | undefined };

/**
 * All responses share this function. With a closure for each response, V8 would retain whole requests until the next
 * full garbage collection.
 */
function writeHeadWithVary(this: PreservedResponse, ...parts: unknown[]): ServerResponse {
  const preserved = this[PRESERVED] as Preserved;
  const { names, lines, length, writeHead, outer } = preserved;
  const position = parts.length < 2 ? -1 : parts.findIndex((part) => typeof part === 'object' && part !== null);
  const split = position < 0 ? undefined : splitVary(parts[position] as object);
  if (split) {
    // Headers that are passed to writeHead replace headers that were set earlier.
    this.setHeader('Vary', split.vary.flat().map(String));
    parts[position] = split.rest;
  }
  if (this.getHeader('vary') !== lines || lines.length !== length) appendVary(this, names);
  this[PRESERVED] = outer;
  try {
    return writeHead.apply(this, parts);
  } finally {
    this[PRESERVED] = preserved;
  }
}

/**
 * Like {@link appendVary}, but preserves the names even if a handler sets Vary later: when the headers are written,
 * names that the handler's Vary does not contain are appended.
 */
export function preserveVary(res: PreservedResponse, names: readonly string[]): void {
  const lines = appendVary(res, names);
  const writeHead = res.writeHead as Preserved['writeHead'];
  res[PRESERVED] = { names, lines, length: lines.length, writeHead, outer: res[PRESERVED] };
  res.writeHead = writeHeadWithVary as ServerResponse['writeHead'];
}
