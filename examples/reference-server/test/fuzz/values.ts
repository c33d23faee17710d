import type { KnownIds } from './known-ids.js';
import type { Random } from './random.js';

type Json = Record<string, any>;

/** The maximum string length. With longer strings, request bodies would be too large. */
const MAX_STRING_LENGTH = 70_000;

/** The probability of a value that the schema does not allow. */
const INVALID_PROBABILITY = 0.02;

/** Strings that are invalid, hostile or unusual. */
export const UNUSUAL_STRINGS = [
  '',
  ' ',
  '\0',
  'a\nb',
  '😀',
  '\ud800',
  '\u202e',
  "'; drop table servers; --",
  '%00',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '-1',
  '0',
  '1e999',
  '9'.repeat(400),
  'a'.repeat(300),
  '(a+)+$',
  '[',
  '::1%eth0',
  '2020-02-30',
  'None',
  'true',
  'null',
];

const UNUSUAL_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  [],
  {},
  [[[[]]]],
  { a: { b: { c: 1 } } },
  ...UNUSUAL_STRINGS,
];

/** Returns a value that usually matches a JSON schema. `member` is the name of the field. */
export function valueFor(schema: Json | undefined, random: Random, ids: KnownIds, member = '', levels = 0): unknown {
  if (random.chance(INVALID_PROBABILITY) || !schema || levels > 8) return random.pick(UNUSUAL_VALUES);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return valueFor(random.pick(choices as Json[]), random, ids, member, levels + 1);
  switch (Array.isArray(schema.type) ? random.pick(schema.type) : schema.type) {
    case 'object':
      return objectFor(schema, random, ids, levels);
    case 'array':
      return Array.from({ length: random.below(4) }, () => valueFor(schema.items, random, ids, member, levels + 1));
    case 'integer':
    case 'number':
      return random.pick([schema.minimum ?? 0, 1, 2, random.below(100), schema.maximum ?? 1000]);
    case 'boolean':
      return random.chance(0.5);
    case 'string':
      return stringFor(schema, random, ids, member);
    default:
      return null;
  }
}

function objectFor(schema: Json, random: Random, ids: KnownIds, levels: number): object {
  const required = new Set<string>(schema.required ?? []);
  const all = Object.keys(schema.properties ?? {});
  const optional = Math.min(0.4, 2 / all.length);
  const names = all.filter((name) => required.has(name) || random.chance(optional));
  const members = names.map((name) => [name, valueFor(schema.properties[name], random, ids, name, levels + 1)]);
  if (random.chance(INVALID_PROBABILITY)) members.push([random.pick(['x', '__proto__', '']), 1]);
  if (typeof schema.additionalProperties === 'object' && random.chance(0.6))
    members.push(['key', valueFor(schema.additionalProperties, random, ids, '', levels + 1)]);
  return Object.fromEntries(members);
}

function stringFor({ pattern = '', maxLength = 255 }: Json, random: Random, ids: KnownIds, member: string): string {
  if (pattern.startsWith('^[0-9]')) return String(random.below(20));
  if (random.chance(0.7)) return ids.valueForField(member, random);
  return random.pick([
    'name',
    'web',
    '1',
    'a'.repeat(Math.min(maxLength, MAX_STRING_LENGTH)),
    '10.0.0.0/24',
    '2026-01-01T00:00:00Z',
  ]);
}
