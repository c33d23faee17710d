import { type Json, type OperationShape, type Part, parentPart } from './operation-shape.js';

/** How a part differs between two versions. */
export interface Difference {
  readonly name: string;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
}

/** Whether a name belongs to a part of the request. */
export function isRequestPart(name: string): boolean {
  return /^(?:body\b|(?:query|path|header|cookie|accepts)\.)/.test(name);
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
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

function bound(rules: Json, keyword: string): number | undefined {
  const bounds = alternativesOf(rules).map((each) => each[keyword] as number | undefined);
  return bounds.length === 1 ? bounds[0] : undefined;
}

/** Returns the patterns or formats of a part, or undefined if an alternative that may be a string has none. */
function textsOf(rules: Json, keyword: string): readonly unknown[] | undefined {
  const strings = alternativesOf(rules).filter(
    ({ type, [keyword]: text, const: only }) =>
      text !== undefined || (only === undefined && (type === undefined || [type].flat().includes('string'))),
  );
  return allOf(strings.map(({ [keyword]: text }) => (text === undefined ? undefined : [text])));
}

/** Describes values that the first rules allow and the second rules do not. */
function narrowingReason(wide: Json, narrow: Json): string | undefined {
  const [types, selected] = [typesOf(wide), typesOf(narrow)];
  const removed =
    selected &&
    (types ?? ['any type']).filter(
      (type) => !selected.includes(type) && !(type === 'integer' && selected.includes('number')),
    );
  if (removed && removed.length > 0) return removed.join(', ');
  const [values, left] = [valuesOf(wide), valuesOf(narrow)];
  if (left) {
    const missing = (values ?? ['other values']).filter((value) => !left.includes(value));
    if (missing.length > 0) return missing.map(String).join(', ');
  }
  for (const keyword of UPPER_BOUNDS) {
    const [was, is] = [bound(wide, keyword), bound(narrow, keyword)];
    if (is !== undefined && (was === undefined || is < was)) return `values above ${keyword} ${is}`;
  }
  for (const keyword of LOWER_BOUNDS) {
    const [was, is] = [bound(wide, keyword), bound(narrow, keyword)];
    if (is !== undefined && (was === undefined || is > was)) return `values below ${keyword} ${is}`;
  }
  for (const keyword of ['pattern', 'format']) {
    const [was, is] = [textsOf(wide, keyword), textsOf(narrow, keyword)];
    if (is && is.length > 0 && (was ?? [undefined]).some((text) => !is.includes(text)))
      return `values that do not match the ${keyword} ${is.join(' or ')}`;
  }
  return undefined;
}

function requestReason({ name, before, after }: Difference, now: OperationShape): string | undefined {
  if (!after) {
    if (now.removalBreaks) return 'is no longer accepted';
    const rejected = name.startsWith('query.') ? now.queryClosed : now.parts.get(parentPart(name))?.closed;
    return rejected ? 'is rejected' : undefined;
  }
  if (after.required && !before?.required) return 'is required';
  const removed = before && narrowingReason(before.rules, after.rules);
  return removed === undefined ? undefined : `no longer accepts ${removed}`;
}

function responseReason({ name, before, after }: Difference): string | undefined {
  if (!before) return undefined;
  if (!after) return /^errors\.\w+$/.test(name) ? undefined : 'is no longer returned';
  if (name === 'status') return `is ${String(after.rules.const)} instead of ${String(before.rules.const)}`;
  const more = narrowingReason(after.rules, before.rules);
  if (more !== undefined) return `can also be ${more}`;
  return before.required && !after.required ? 'can be absent' : undefined;
}

/**
 * Returns why a difference is a breaking change for clients of the earlier version, as a predicate whose subject is the
 * part, or undefined if it is compatible.
 */
export function breakingReason(difference: Difference, now: OperationShape): string | undefined {
  return isRequestPart(difference.name) ? requestReason(difference, now) : responseReason(difference);
}
