/** What part of the list is asked for; offsets are exact up to 2^63-1. */
export interface RequestedPage {
  readonly limit: number;
  readonly offset: bigint;
}

export interface PageLimits {
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

const MAX_OFFSET = 2n ** 63n - 1n;
const INTEGER = /^\s*[-+]?\d+\s*$/;

/** Reads `limit` and `offset`, never refusing: what makes no sense becomes the nearest thing that does. */
export function pageIn(query: URLSearchParams, { defaultLimit, maxLimit }: PageLimits): RequestedPage {
  const limit = integerIn(query, 'limit') ?? BigInt(defaultLimit);
  const offset = integerIn(query, 'offset') ?? 0n;
  return {
    limit: limit < 1n ? 1 : limit > BigInt(maxLimit) ? maxLimit : Number(limit),
    offset: offset < 0n || offset > MAX_OFFSET ? 0n : offset,
  };
}

/** Undefined where the parameter is missing, empty, no integer, or given twice. */
function integerIn(query: URLSearchParams, name: string): bigint | undefined {
  const [text, another] = query.getAll(name);
  if (text === undefined || another !== undefined || !INTEGER.test(text)) return undefined;
  return BigInt(text.trim().replace(/^\+/, ''));
}

/** The links to the pages before and behind, where there are any. */
export function linksOf({ limit, offset }: RequestedPage, total: number, url: string) {
  const link = (to: bigint) => `${url}?limit=${limit}&offset=${to}`;
  const size = BigInt(limit);
  return {
    previous: offset > 0n ? link(offset > size ? offset - size : 0n) : undefined,
    next: BigInt(total) > offset + size ? link(offset + size) : undefined,
  };
}
