/** Maximum number of cached header values. Few are in use, but clients choose them. */
const MAX_CACHED_TEXTS = 512;
const MAX_CACHED_LENGTH = 64;

/** Caches the meaning of header texts, up to a limit. Results that `isKept` excludes, such as errors, are computed each time. */
export function memoized<R>(
  read: (text: string) => R,
  isCached: (result: NonNullable<R>) => boolean,
): (text: string) => R {
  const cache = new Map<string, NonNullable<R>>();
  return (text) => {
    const before = cache.get(text);
    if (before) return before;
    const result = read(text);
    if (result && text.length <= MAX_CACHED_LENGTH && isCached(result)) {
      if (cache.size >= MAX_CACHED_TEXTS) cache.clear();
      cache.set(text, result);
    }
    return result;
  };
}
