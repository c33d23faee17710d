/** Maximum number of event types per subscriber. */
const MAX_TYPES = 32;
/** Maximum length of an event type. */
const MAX_CHARACTERS = 255;

/**
 * Returns a function that tests whether a string matches a pattern in which `*` stands for any number of characters.
 * The test needs no backtracking, because the first match of each part of the pattern is sufficient.
 */
function createGlobMatcher(pattern: string): (text: string) => boolean {
  const [prefix = '', ...parts] = pattern.split('*');
  const suffix = parts.pop();
  if (suffix === undefined) return (text) => text === pattern;
  const middle = parts.filter((part) => part !== '');
  return (text) => {
    const suffixStart = text.length - suffix.length;
    if (suffixStart < prefix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    let from = prefix.length;
    for (const part of middle) {
      const position = text.indexOf(part, from);
      if (position < 0 || position + part.length > suffixStart) return false;
      from = position + part.length;
    }
    return true;
  };
}

/**
 * Returns a function that tests whether a subscriber receives events of a type.
 *
 * @param types at most 32 types of at most 255 characters, in which `*` matches any characters; an empty or undefined
 * list matches all types
 * @throws TypeError if there are more types, or longer ones
 */
export function subscribedTypes(types: readonly string[] | undefined): (type: string) => boolean {
  if (!types || types.length === 0) return () => true;
  if (types.length > MAX_TYPES)
    throw new TypeError(`At most ${MAX_TYPES} event types are allowed, not ${types.length}.`);
  const invalidType = types.find(({ length }) => length > MAX_CHARACTERS);
  if (invalidType !== undefined)
    throw new TypeError(`An event type can have at most ${MAX_CHARACTERS} characters, not ${invalidType.length}.`);
  const typeMatchers = types.map(createGlobMatcher);
  return (type) => typeMatchers.some((test) => test(type));
}
