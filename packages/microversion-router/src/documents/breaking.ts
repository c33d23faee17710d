import { type Json, type OperationShape, type Part, parentPart } from './operation-shape.js';

/** A part of an operation (a field, parameter or status) at two versions. */
export interface Difference {
  readonly name: string;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
}

/** Returns whether the name of an operation part denotes a part of the request. */
export function isRequestPart(name: string): boolean {
  return /^(?:body\b|(?:query|path|header|cookie|accepts)\.)/.test(name);
}

function alternativesOf(rules: Json): readonly Json[] {
  return (rules.anyOf as readonly Json[] | undefined) ?? [rules];
}

/** Returns the union of several lists, or undefined (unlimited) if one of them is undefined. */
function unionOf<T>(lists: readonly (readonly T[] | undefined)[]): readonly T[] | undefined {
  const definedLists = lists.filter((list) => list !== undefined);
  return definedLists.length < lists.length ? undefined : ([...new Set(definedLists.flat())] as readonly T[]);
}

/** Returns the JSON types that a schema allows, or undefined if it allows all types. */
function typesOf(rules: Json): readonly string[] | undefined {
  const types = alternativesOf(rules).map(({ type, enum: values, const: literal }) => {
    if (type !== undefined) return [type].flat() as string[];
    const literals = values ? (values as unknown[]) : literal !== undefined ? [literal] : undefined;
    return literals?.map((value) => (value === null ? 'null' : typeof value));
  });
  return unionOf(types);
}

/** Returns the values that a schema enumerates, or undefined if it does not enumerate values. */
function valuesOf(rules: Json): readonly unknown[] | undefined {
  const valueLists = alternativesOf(rules).map(({ enum: values, const: literal }) =>
    values ? (values as unknown[]) : literal === undefined ? undefined : [literal],
  );
  return unionOf(valueLists);
}

const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

function boundOf(rules: Json, keyword: string): number | undefined {
  const bounds = alternativesOf(rules).map((alternative) => alternative[keyword] as number | undefined);
  return bounds.length === 1 ? bounds[0] : undefined;
}

/** Returns the patterns or formats in a schema, or undefined if an alternative that allows strings does not have one. */
function constraintsOf(rules: Json, keyword: string): readonly unknown[] | undefined {
  const strings = alternativesOf(rules).filter(
    ({ type, [keyword]: text, const: literal }) =>
      text !== undefined || (literal === undefined && (type === undefined || [type].flat().includes('string'))),
  );
  return unionOf(strings.map(({ [keyword]: text }) => (text === undefined ? undefined : [text])));
}

/** Describes values that the schema `wide` allows and the schema `narrow` rejects. Returns undefined if there are none. */
function narrowingReason(wide: Json, narrow: Json): string | undefined {
  const [wideTypes, narrowTypes] = [typesOf(wide), typesOf(narrow)];
  const removedTypes =
    narrowTypes &&
    (wideTypes ?? ['any type']).filter(
      (type) => !narrowTypes.includes(type) && !(type === 'integer' && narrowTypes.includes('number')),
    );
  if (removedTypes && removedTypes.length > 0) return removedTypes.join(', ');
  const [wideValues, narrowValues] = [valuesOf(wide), valuesOf(narrow)];
  if (narrowValues) {
    const removedValues = (wideValues ?? ['other values']).filter((value) => !narrowValues.includes(value));
    if (removedValues.length > 0) return removedValues.map(String).join(', ');
  }
  for (const keyword of UPPER_BOUNDS) {
    const [wideBound, narrowBound] = [boundOf(wide, keyword), boundOf(narrow, keyword)];
    if (narrowBound !== undefined && (wideBound === undefined || narrowBound < wideBound))
      return `values above ${keyword} ${narrowBound}`;
  }
  for (const keyword of LOWER_BOUNDS) {
    const [wideBound, narrowBound] = [boundOf(wide, keyword), boundOf(narrow, keyword)];
    if (narrowBound !== undefined && (wideBound === undefined || narrowBound > wideBound))
      return `values below ${keyword} ${narrowBound}`;
  }
  for (const keyword of ['pattern', 'format']) {
    const [wideTexts, narrowTexts] = [constraintsOf(wide, keyword), constraintsOf(narrow, keyword)];
    if (narrowTexts && narrowTexts.length > 0 && (wideTexts ?? [undefined]).some((text) => !narrowTexts.includes(text)))
      return `values that do not match the ${keyword} ${narrowTexts.join(' or ')}`;
  }
  return undefined;
}

function requestReason({ name, before, after }: Difference, newShape: OperationShape): string | undefined {
  if (!after) {
    if (newShape.removalBreaks) return 'is no longer accepted';
    const isRejected = name.startsWith('query.') ? newShape.queryClosed : newShape.parts.get(parentPart(name))?.closed;
    return isRejected ? 'is rejected' : undefined;
  }
  if (after.required && !before?.required) return 'is required';
  const removedValuesText = before && narrowingReason(before.rules, after.rules);
  return removedValuesText === undefined ? undefined : `no longer accepts ${removedValuesText}`;
}

function responseReason({ name, before, after }: Difference): string | undefined {
  if (!before) return undefined;
  if (!after) return /^errors\.\w+$/.test(name) ? undefined : 'is no longer returned';
  if (name === 'status') return `is ${String(after.rules.const)} instead of ${String(before.rules.const)}`;
  const addedValuesText = narrowingReason(after.rules, before.rules);
  if (addedValuesText !== undefined) return `can also be ${addedValuesText}`;
  return before.required && !after.required ? 'can be absent' : undefined;
}

/**
 * Returns why a difference breaks clients of the earlier version, as a predicate whose subject is the part, such as
 * `is required`; undefined if the difference is compatible.
 */
export function breakingReason(difference: Difference, newShape: OperationShape): string | undefined {
  return isRequestPart(difference.name) ? requestReason(difference, newShape) : responseReason(difference);
}
