/** The page of a list that a client has requested. Offsets are exact up to 2^63-1. */
export interface RequestedPage {
  readonly limit: number;
  readonly offset: bigint;
}

export interface PageLimits {
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

const MAX_OFFSET = 2n ** 63n - 1n;
const INTEGER_PATTERN = /^\s*[-+]?\d+\s*$/;

/** Returns the page that the query parameters select. Instead of an invalid value, the default or the nearest bound applies. */
export function parsePage(query: URLSearchParams, { defaultLimit, maxLimit }: PageLimits): RequestedPage {
  const limit = integerParameter(query, 'limit') ?? BigInt(defaultLimit);
  const offset = integerParameter(query, 'offset') ?? 0n;
  return {
    limit: limit < 1n ? 1 : limit > BigInt(maxLimit) ? maxLimit : Number(limit),
    offset: offset < 0n || offset > MAX_OFFSET ? 0n : offset,
  };
}

/** Returns an integer query parameter, or undefined if it is missing, empty, not an integer, or repeated. */
function integerParameter(query: URLSearchParams, name: string): bigint | undefined {
  const [text, secondText] = query.getAll(name);
  if (text === undefined || secondText !== undefined || !INTEGER_PATTERN.test(text)) return undefined;
  return BigInt(text.trim().replace(/^\+/, ''));
}

/** Returns the links to the previous and next page, if they exist. */
export function linksOf({ limit, offset }: RequestedPage, total: number, url: string) {
  const pageUrl = (to: bigint) => `${url}?limit=${limit}&offset=${to}`;
  const size = BigInt(limit);
  return {
    previous: offset > 0n ? pageUrl(offset > size ? offset - size : 0n) : undefined,
    next: BigInt(total) > offset + size ? pageUrl(offset + size) : undefined,
  };
}
