import type { ServerResponse } from 'node:http';

type HeaderValue = number | string | readonly string[];

/** Removes header names from Vary lines. Lines that become empty are omitted. */
function removeNames(value: HeaderValue, names: readonly string[]): string[] {
  const removedNames = new Set(names.map((name) => name.toLowerCase()));
  return (Array.isArray(value) ? value : [String(value)])
    .map((line: string) =>
      line
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '' && !removedNames.has(entry.toLowerCase()))
        .join(', '),
    )
    .filter((line) => line !== '');
}

/** Appends one Vary line per header name and returns all lines. Names that exist already move to the end. */
export function appendVary(res: ServerResponse, names: readonly string[]): readonly string[] {
  const existingValue = res.getHeader('vary');
  // Copied, because Node's appendHeader modifies the list that setHeader received.
  const lines = existingValue === undefined ? names.slice() : [...removeNames(existingValue, names), ...names];
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
interface PreservedVary {
  readonly names: readonly string[];
  /**
   * The Vary lines that were set, and their number, which reveals whether Node's appendHeader has modified the list in
   * place.
   */
  readonly lines: readonly string[];
  readonly length: number;
  readonly writeHead: (...parts: unknown[]) => ServerResponse;
  /** The state that an earlier call has stored on the same response. */
  readonly outer: PreservedVary | undefined;
}

const PRESERVED_VARY = Symbol('preserved Vary');

type PreservedResponse = ServerResponse & { [PRESERVED_VARY]?: PreservedVary | undefined };

/**
 * All responses share this function. With a closure for each response, V8 would retain whole requests until the next
 * full garbage collection.
 */
function writeHeadWithVary(this: PreservedResponse, ...parts: unknown[]): ServerResponse {
  const preserved = this[PRESERVED_VARY] as PreservedVary;
  const { names, lines, length, writeHead, outer } = preserved;
  const headersIndex = parts.length < 2 ? -1 : parts.findIndex((part) => typeof part === 'object' && part !== null);
  const splitHeaders = headersIndex < 0 ? undefined : splitVary(parts[headersIndex] as object);
  if (splitHeaders) {
    // Headers that are passed to writeHead replace headers that were set earlier.
    this.setHeader('Vary', splitHeaders.vary.flat().map(String));
    parts[headersIndex] = splitHeaders.rest;
  }
  if (this.getHeader('vary') !== lines || lines.length !== length) appendVary(this, names);
  this[PRESERVED_VARY] = outer;
  try {
    return writeHead.apply(this, parts);
  } finally {
    this[PRESERVED_VARY] = preserved;
  }
}

/**
 * Like {@link appendVary}, but preserves the names even if a handler sets Vary later: when the headers are written,
 * names that the handler's Vary does not contain are appended.
 */
export function preserveVary(res: PreservedResponse, names: readonly string[]): void {
  const lines = appendVary(res, names);
  const writeHead = res.writeHead as PreservedVary['writeHead'];
  res[PRESERVED_VARY] = { names, lines, length: lines.length, writeHead, outer: res[PRESERVED_VARY] };
  res.writeHead = writeHeadWithVary as ServerResponse['writeHead'];
}
