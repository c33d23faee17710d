import type { ServerResponse } from 'node:http';

type HeaderValue = number | string | readonly string[];

/** Vary lines without the given names; lines that were only those names vanish. */
function linesWithout(value: HeaderValue, names: readonly string[]): string[] {
  const ours = new Set(names.map((name) => name.toLowerCase()));
  return (Array.isArray(value) ? value : [String(value)])
    .map((line: string) =>
      line
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '' && !ours.has(entry.toLowerCase()))
        .join(', '),
    )
    .filter((line) => line !== '');
}

/** Adds one Vary line per name behind the lines that are there, and gives all lines. Names that are there already move to the end. */
export function appendVary(res: ServerResponse, names: readonly string[]): readonly string[] {
  const present = res.getHeader('vary');
  // Always a new list: Node's appendHeader adds to the very list it was given.
  const lines = present === undefined ? names.slice() : [...linesWithout(present, names), ...names];
  res.setHeader('Vary', lines);
  return lines;
}

/** Splits a head given to `writeHead` into its Vary values and the rest; undefined if there is no Vary in it. */
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

/**
 * Like {@link appendVary}, and keeps the names there whatever a handler does to Vary afterwards: when the head is
 * written, names that went missing are added behind the handler's own.
 */
export function holdVary(res: ServerResponse, names: readonly string[]): void {
  const held = appendVary(res, names);
  const length = held.length;
  const writeHead = res.writeHead as (...parts: unknown[]) => ServerResponse;
  res.writeHead = function writeHeadWithVary(this: ServerResponse, ...parts: unknown[]): ServerResponse {
    const position = parts.length < 2 ? -1 : parts.findIndex((part) => typeof part === 'object' && part !== null);
    const split = position < 0 ? undefined : splitVary(parts[position] as object);
    if (split) {
      // What writeHead is given replaces what was set before, as it does for every other header.
      res.setHeader('Vary', split.vary.flat().map(String));
      parts[position] = split.rest;
    }
    if (res.getHeader('vary') !== held || held.length !== length) appendVary(res, names);
    return writeHead.apply(this, parts);
  } as ServerResponse['writeHead'];
}
