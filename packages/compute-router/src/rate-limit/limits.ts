/** How many requests each project, or each user, may make in a window of time. */
export interface RateLimit {
  /** Whose requests are counted together. */
  readonly per: 'project' | 'user';
  /** Requests of a window, at least 1. */
  readonly requests: number;
  /** Length of the window in seconds, at least 1. It begins with the first request and is followed by a new one. */
  readonly windowSeconds: number;
  /** What callers read of it; default `user-60` for 60 seconds of a user. No two limits have the same. */
  readonly name?: string;
}

/** A limit with its name. */
export type NamedLimit = Required<RateLimit>;

/** What may stand in a string of a structured header field without being escaped. */
const NAME = /^[ !#-[\]-~]{1,64}$/;

/** The longest window that timers take. */
const LONGEST_SECONDS = 2_000_000;

function named(limit: RateLimit): NamedLimit {
  const { per, requests, windowSeconds, name = `${per}-${windowSeconds}` } = limit;
  const told = `rateLimiter(): limit ${JSON.stringify(limit)}`;
  if (per !== 'project' && per !== 'user') throw new RangeError(`${told}: per is 'project' or 'user'`);
  if (!Number.isSafeInteger(requests) || requests < 1 || requests >= 2 ** 31)
    throw new RangeError(`${told}: requests is a whole number from 1 to ${2 ** 31 - 1}`);
  if (!Number.isInteger(windowSeconds) || windowSeconds < 1 || windowSeconds > LONGEST_SECONDS)
    throw new RangeError(`${told}: windowSeconds is a whole number from 1 to ${LONGEST_SECONDS}`);
  if (!NAME.test(name)) throw new RangeError(`${told}: name is 1 to 64 printable characters without quotes`);
  return { per, requests, windowSeconds, name };
}

/**
 * Checks limits and puts them in the order in which they are asked: users before projects, so that what is refused to
 * one user takes nothing from the others of a project, and short windows first.
 *
 * @throws RangeError for what cannot be a limit, with what it has to be
 */
export function orderedLimits(limits: readonly RateLimit[]): readonly NamedLimit[] {
  const all = limits.map(named);
  const names = all.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`rateLimiter(): two limits have the name '${twice}': give them others`);
  const rank = ({ per }: NamedLimit) => (per === 'user' ? 0 : 1);
  return all.sort((a, b) => rank(a) - rank(b) || a.windowSeconds - b.windowSeconds);
}
