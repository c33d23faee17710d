import { holderOf, type Json, type Outline, type Part } from './outline.js';

/** How a part differs between two versions. */
export interface Difference {
  readonly name: string;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
}

function isRequest(name: string): boolean {
  return name.startsWith('body') || name.startsWith('query.');
}

function alternativesOf(rules: Json): readonly Json[] {
  return (rules.anyOf as readonly Json[] | undefined) ?? [rules];
}

/** Returns the union of the lists, or undefined if one of them is undefined (unlimited). */
function allOf<T>(lists: readonly (readonly T[] | undefined)[]): readonly T[] | undefined {
  const limited = lists.filter((list) => list !== undefined);
  return limited.length < lists.length ? undefined : ([...new Set(limited.flat())] as readonly T[]);
}

/** Returns the JSON types that a part can have, or undefined if it can have any. */
function typesOf(rules: Json): readonly string[] | undefined {
  const types = alternativesOf(rules).map(({ type, enum: values, const: only }) => {
    if (type !== undefined) return [type].flat() as string[];
    const literals = values ? (values as unknown[]) : only !== undefined ? [only] : undefined;
    return literals?.map((value) => (value === null ? 'null' : typeof value));
  });
  return allOf(types);
}

/** Returns the values that a part is limited to, or undefined if it is not limited. */
function valuesOf(rules: Json): readonly unknown[] | undefined {
  const all = alternativesOf(rules).map(({ enum: values, const: only }) =>
    values ? (values as unknown[]) : only === undefined ? undefined : [only],
  );
  return allOf(all);
}

/** Keywords for lower and for upper bounds. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

function bound(rules: Json, keyword: string): number | undefined {
  const bounds = alternativesOf(rules).map((each) => each[keyword] as number | undefined);
  return bounds.length === 1 ? bounds[0] : undefined;
}

/** Describes values that the first rules allow and the second rules do not. */
function narrowed(wide: Json, narrow: Json): string | undefined {
  const [types, kept] = [typesOf(wide), typesOf(narrow)];
  const gone =
    kept &&
    (types ?? ['any type']).filter((type) => !kept.includes(type) && !(type === 'integer' && kept.includes('number')));
  if (gone && gone.length > 0) return gone.join(', ');
  const [values, left] = [valuesOf(wide), valuesOf(narrow)];
  if (left) {
    const missing = (values ?? ['other values']).filter((value) => !left.includes(value));
    if (missing.length > 0) return missing.map(String).join(', ');
  }
  for (const keyword of UPPER) {
    const [was, is] = [bound(wide, keyword), bound(narrow, keyword)];
    if (is !== undefined && (was === undefined || is < was)) return `values above ${keyword} ${is}`;
  }
  for (const keyword of LOWER) {
    const [was, is] = [bound(wide, keyword), bound(narrow, keyword)];
    if (is !== undefined && (was === undefined || is > was)) return `values below ${keyword} ${is}`;
  }
  for (const keyword of ['pattern', 'format']) {
    const [was, is] = [alternativesOf(wide), alternativesOf(narrow)].map((each) =>
      each.map((rules) => rules[keyword]).join(),
    );
    if (is && is !== was) return `values that do not match the ${keyword} ${is}`;
  }
  return undefined;
}

function requestReason({ name, before, after }: Difference, now: Outline): string | undefined {
  if (!after) {
    const refused = name.startsWith('query.') ? now.queryClosed : now.parts.get(holderOf(name))?.closed;
    return refused ? 'is rejected' : undefined;
  }
  if (after.required && !before?.required) {
    // A required part of a new optional object does not affect clients that do not send the object.
    const holder = holderOf(name);
    return before || holder === name || now.parts.has(holder) ? 'is required' : undefined;
  }
  const gone = before && narrowed(before.rules, after.rules);
  return gone === undefined ? undefined : `no longer accepts ${gone}`;
}

function answerReason({ name, before, after }: Difference): string | undefined {
  if (!before) return undefined;
  if (!after) return name.startsWith('errors.') ? undefined : 'is no longer returned';
  if (name === 'status') return `is ${String(after.rules.const)} instead of ${String(before.rules.const)}`;
  const more = narrowed(after.rules, before.rules);
  if (more !== undefined) return `can also be ${more}`;
  return before.required && !after.required ? 'can be absent' : undefined;
}

/**
 * Returns why a difference is a breaking change for clients of the earlier version, as a predicate whose subject is the
 * part, or undefined if it is compatible.
 */
export function breakingReason(difference: Difference, now: Outline): string | undefined {
  return isRequest(difference.name) ? requestReason(difference, now) : answerReason(difference);
}
