/** How many types one subscriber may name, and how long each may be. */
const MOST_TYPES = 32;
const MOST_CHARACTERS = 255;

/**
 * Returns a test for a pattern in which `*` stands for any characters, also none. Its time is linear in the text for each
 * part of the pattern: the first place at which a part is found is always good enough, so nothing is tried again.
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
 * Returns a test for the event types that a subscriber wants.
 *
 * @param types at most 32 of at most 255 characters, in which `*` stands for anything; none or left out: all types
 * @throws TypeError for more or longer ones
 */
export function wantedTypes(types: readonly string[] | undefined): (type: string) => boolean {
  if (!types || types.length === 0) return () => true;
  if (types.length > MOST_TYPES)
    throw new TypeError(`At most ${MOST_TYPES} event types can be named, not ${types.length}.`);
  const long = types.find(({ length }) => length > MOST_CHARACTERS);
  if (long !== undefined)
    throw new TypeError(`An event type has at most ${MOST_CHARACTERS} characters, not ${long.length}.`);
  const tests = types.map(globTest);
  return (type) => tests.some((test) => test(type));
}
