/** Maximum number of types of a subscriber, and maximum length of each. */
const MAX_TYPES = 32;
const MAX_CHARACTERS = 255;

/**
 * Returns a test for a pattern in which `*` matches any number of characters. It takes linear time for each part of the
 * pattern: the first match of a part is always sufficient, so no backtracking is needed.
 */
function globTest(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text === pattern;
  const between = parts.filter((part) => part !== '');
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found < 0 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}

/**
 * Returns a test for the event types of a subscriber.
 *
 * @param types at most 32 of at most 255 characters, in which `*` matches any characters; none or undefined: all types
 * @throws TypeError if there are more or longer ones
 */
export function subscribedTypes(types: readonly string[] | undefined): (type: string) => boolean {
  if (!types || types.length === 0) return () => true;
  if (types.length > MAX_TYPES)
    throw new TypeError(`At most ${MAX_TYPES} event types are allowed, not ${types.length}.`);
  const long = types.find(({ length }) => length > MAX_CHARACTERS);
  if (long !== undefined)
    throw new TypeError(`An event type can have at most ${MAX_CHARACTERS} characters, not ${long.length}.`);
  const tests = types.map(globTest);
  return (type) => tests.some((test) => test(type));
}
