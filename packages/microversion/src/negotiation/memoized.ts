/** Maximum number of cached header values. It limits memory, because clients can send any number of different values. */
const MAX_CACHED_TEXTS = 512;
const MAX_CACHED_LENGTH = 64;

/** Caches the results of parsing header values, up to a limit. Results for which `isCached` returns false are not cached. */
export function memoizeParser<R>(
  parse: (text: string) => R,
  isCached: (result: NonNullable<R>) => boolean,
): (text: string) => R {
  const cache = new Map<string, NonNullable<R>>();
  return (text) => {
    const cached = cache.get(text);
    if (cached) return cached;
    const result = parse(text);
    if (result && text.length <= MAX_CACHED_LENGTH && isCached(result)) {
      if (cache.size >= MAX_CACHED_TEXTS) cache.clear();
      cache.set(text, result);
    }
    return result;
  };
}
