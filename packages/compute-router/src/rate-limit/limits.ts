/** The number of requests that each project, or each user, may send in a time window. */
export interface RateLimit {
  /** Whether the limit applies to each project or to each user. */
  readonly per: 'project' | 'user';
  /** Requests per window, at least 1. */
  readonly requests: number;
  /** Length of the window in seconds, at least 1. A window starts with its first request. */
  readonly windowSeconds: number;
  /** Unique name of the limit in response headers. Default: `per` and `windowSeconds`, such as `user-60`. */
  readonly name?: string;
}

/** A rate limit whose name is set. */
export type NamedLimit = Required<RateLimit>;

/** A valid limit name: printable characters that do not have to be escaped in structured header fields. */
const NAME_PATTERN = /^[ !#-[\]-~]{1,64}$/;

/** The maximum length of a time window. Timers do not support longer delays. */
const MAX_WINDOW_SECONDS = 2_000_000;

function toNamedLimit(limit: RateLimit): NamedLimit {
  const { per, requests, windowSeconds, name = `${per}-${windowSeconds}` } = limit;
  const limitLabel = `rateLimiter(): limit ${JSON.stringify(limit)}`;
  if (per !== 'project' && per !== 'user') throw new RangeError(`${limitLabel}: per must be 'project' or 'user'`);
  if (!Number.isSafeInteger(requests) || requests < 1 || requests >= 2 ** 31)
    throw new RangeError(`${limitLabel}: requests must be an integer from 1 to ${2 ** 31 - 1}`);
  if (!Number.isInteger(windowSeconds) || windowSeconds < 1 || windowSeconds > MAX_WINDOW_SECONDS)
    throw new RangeError(`${limitLabel}: windowSeconds must be an integer from 1 to ${MAX_WINDOW_SECONDS}`);
  if (!NAME_PATTERN.test(name))
    throw new RangeError(`${limitLabel}: name must have 1 to 64 printable characters without quotes`);
  return { per, requests, windowSeconds, name };
}

/**
 * Validates limits and sorts them in the order in which they are checked. User limits come before project limits, so
 * that a user's rejected requests do not count against the project's limit. Shorter windows come first.
 *
 * @throws RangeError if a limit is invalid; the message contains the valid range
 */
export function orderedLimits(limits: readonly RateLimit[]): readonly NamedLimit[] {
  const namedLimits = limits.map(toNamedLimit);
  const names = namedLimits.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new RangeError(`rateLimiter(): two limits have the name '${duplicate}': names must be unique`);
  const rankOf = ({ per }: NamedLimit) => (per === 'user' ? 0 : 1);
  return namedLimits.sort((a, b) => rankOf(a) - rankOf(b) || a.windowSeconds - b.windowSeconds);
}
