/** Maximum number of cached header values. Few values are in use, but clients choose them. */
const MAX_CACHED_TEXTS = 512;
const MAX_CACHED_LENGTH = 64;

/** Caches parsed header values, up to a limit. Results that `isCached` excludes, such as errors, are computed each time. */
export function memoized<R>(
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
