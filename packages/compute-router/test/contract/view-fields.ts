import type { ListedField } from './reference.js';

/** Returns the differences between a representation and its listed fields. */
export function mismatches(item: unknown, fields: readonly ListedField[]): readonly string[] {
  return check(
    item,
    fields.map((field) => ({ ...field, name: field.name.replace(/^\./, '') })),
    '',
  );
}

/** Returns whether an item has at least one value at a field's path: `addresses.*[].addr`. */
export function hasField(item: unknown, { name }: ListedField): boolean {
  return hasValueAt(item, name.match(/\[\]|[^.[\]]+/g) ?? []);
}

function hasValueAt(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (value === null || typeof value !== 'object') return false;
  if (step === '[]' || step === '*') return Object.values(value).some((inner) => hasValueAt(inner, rest));
  return Object.hasOwn(value, step) && hasValueAt((value as Record<string, unknown>)[step], rest);
}

function check(item: unknown, fields: readonly ListedField[], path: string): string[] {
  if (item === null || typeof item !== 'object') return [];
  const topLevelFields = new Map<string, ListedField[]>();
  for (const field of fields) {
    const top = /^(\*|[^.[]+)/.exec(field.name)![0];
    topLevelFields.set(top, [...(topLevelFields.get(top) ?? []), field]);
  }
  const any = topLevelFields.get('*');
  const wrong: string[] = [];
  for (const [key, value] of Object.entries(item)) {
    const listed = topLevelFields.get(key) ?? any;
    if (!listed) wrong.push(`${path}${key} is not listed`);
    else wrong.push(...checkValue(value, listed, topLevelFields.has(key) ? key : '*', `${path}${key}`));
  }
  for (const [key, listed] of topLevelFields) {
    if (key !== '*' && !(key in item) && listed.some((field) => field.name === key && field.always))
      wrong.push(`${path}${key} is missing`);
  }
  return wrong;
}

function checkValue(value: unknown, listed: readonly ListedField[], key: string, path: string): string[] {
  const own = listed.filter(({ name }) => name === key);
  const wrong =
    own.length > 0 && !own.some(({ type }) => fits(value, type))
      ? [`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${own.map(({ type }) => type).join(' or ')}`]
      : [];
  const below = listed.flatMap((field) =>
    field.name === key ? [] : [{ ...field, name: field.name.slice(key.length) }],
  );
  const items = below.filter(({ name }) => name.startsWith('[]'));
  const inside = below.filter(({ name }) => name.startsWith('.'));
  if (Array.isArray(value) && items.length > 0) {
    const rest = items
      .map((field) => ({ ...field, name: field.name.slice(2).replace(/^\./, '') }))
      .filter(({ name }) => name);
    if (rest.length > 0) for (const item of value) wrong.push(...check(item, rest, `${path}[].`));
  } else if (inside.length > 0) {
    wrong.push(
      ...check(
        value,
        inside.map((field) => ({ ...field, name: field.name.slice(1) })),
        `${path}.`,
      ),
    );
  }
  return wrong;
}

/** JSON types by their names in the reference; subtypes of strings (ids, addresses, times) are strings here. */
const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: () => true,
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  ...Object.fromEntries(['array', 'links', 'collection_links'].map((name) => [name, Array.isArray])),
  ...Object.fromEntries(['object', 'metadata', 'metadata_null'].map((name) => [name, isObject])),
  ...Object.fromEntries(
    ['string', 'idstring', 'ip', 'tag', 'keypair_name', 'keypair_name_292', 'format:ipv4', 'format:ipv6'].map(
      (name) => [name, (value: unknown) => typeof value === 'string'],
    ),
  ),
};

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Matches the alternatives that the word "or" separates. Alternatives may contain parentheses with the same word. */
const ALTERNATIVE = /(?:[^( ]|\((?:[^()]|\([^()]*\))*\)| (?!or ))+/g;

/**
 * Returns whether a value has a type: `string|null(uuid)`, `const("") or object`, `integer(enum[0,25])`. Parentheses
 * contain restrictions or lists.
 */
function fits(value: unknown, type: string): boolean {
  const alternatives = type.match(ALTERNATIVE)!.map((text) => text.replace(/^or /, ''));
  return alternatives.some((alternative) => {
    const literal = /^const\((.*)\)$/.exec(alternative)?.[1];
    if (literal !== undefined) return JSON.stringify(value) === literal;
    const listed = /enum(\[.*\])/.exec(alternative)?.[1];
    if (listed !== undefined && (JSON.parse(listed) as unknown[]).includes(value)) return true;
    if (alternative.startsWith('enum')) return false;
    const names = alternative.replaceAll(/<.*>|\(.*\)|\{.*\}|\[.*\]/g, '').split('|');
    // The listed values were checked above; null may be missing from the list.
    if (listed !== undefined) return value === null && names.includes('null');
    return names.some((name) => {
      if (!Object.hasOwn(kinds, name))
        throw new TypeError(`the reference names a type that is not known here: ${type}`);
      return kinds[name]!(value);
    });
  });
}
