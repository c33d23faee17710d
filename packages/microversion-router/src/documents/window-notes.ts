import { Version, type VersionScheme } from '@apistrata/microversion';
import { existsAt, type Operation } from '../router/operation.js';
import {
  breakpointsOfOperation,
  type Json,
  type OperationShape,
  operationShape,
  parentPart,
} from './operation-shape.js';

/** Notes on the version ranges in which an operation and its parts exist, such as `New in 2.53. Removed in 2.88.` */
export interface WindowNotes {
  readonly operation: string | undefined;
  /**
   * Returns the note on a part of the operation.
   *
   * @param part dotted name: `query.limit`, `body.server.name`, `reply.servers[].id`
   */
  of(part: string): string | undefined;
}

/** The shape of an operation between two consecutive breakpoints: the versions at which the operation may change. */
interface Interval {
  /** The first version of the interval; undefined for the interval below the first breakpoint. */
  readonly from: Version | undefined;
  readonly shape: OperationShape | undefined;
}

/** Returns the version intervals of all operations with the same key, lowest first. */
function intervalsOf(history: readonly Operation[], scheme: VersionScheme): readonly Interval[] {
  // An element that exists at the lowest possible version has no note about the version that added it.
  const lowestVersion = Version.of(scheme.lowest, [scheme]);
  const breakpoints = new Map(history.flatMap(breakpointsOfOperation).map((version) => [version.text, version]));
  const ascendingBreakpoints = [...breakpoints.values()]
    .filter((v) => v.compare(lowestVersion) > 0)
    .sort((a, b) => a.compare(b));
  const shapeAt = (version: Version) => {
    const operation = history.find((candidate) => existsAt(candidate, version));
    return operation && operationShape(operation, version);
  };
  return [
    { from: undefined, shape: shapeAt(lowestVersion) },
    ...ascendingBreakpoints.map((from) => ({ from, shape: shapeAt(from) })),
  ];
}

/**
 * Returns the note on the version range that includes the current interval and in which an element exists without a
 * gap.
 */
function noteOf(
  intervals: readonly Interval[],
  current: number,
  exists: (shape: OperationShape | undefined) => boolean,
) {
  let first = current;
  while (first > 0 && exists(intervals[first - 1]?.shape)) first -= 1;
  let end = current + 1;
  while (end < intervals.length && exists(intervals[end]?.shape)) end += 1;
  const [since, removed] = [intervals[first]?.from, intervals[end]?.from];
  const notes = [since && `New in ${since}.`, removed && `Removed in ${removed}.`].filter(Boolean);
  return notes.length > 0 ? notes.join(' ') : undefined;
}

/**
 * Returns the notes on the version ranges of an operation and its parts. A part has a note only if its version range
 * differs from the range of the enclosing part or operation.
 *
 * @param history all operations with the same key, which replace each other in successive versions
 * @param version a version at which one of the operations exists
 */
export function windowNotes(history: readonly Operation[], version: Version): WindowNotes {
  const intervals = intervalsOf(history, version.scheme);
  const current = intervals.findLastIndex(({ from }) => from === undefined || from.compare(version) <= 0);
  const operation = noteOf(intervals, current, (shape) => shape !== undefined);
  const noteOfPart = (part: string) => noteOf(intervals, current, (shape) => shape?.parts.has(part) ?? false);
  return {
    operation,
    of(part) {
      const note = noteOfPart(part);
      const parent = parentPart(part);
      const isNested = parent !== part && intervals[current]?.shape?.parts.has(parent);
      return note === (isNested ? noteOfPart(parent) : operation) ? undefined : note;
    },
  };
}

/** Appends a note to a description. */
export function withNote(description: string | undefined, note: string | undefined): string | undefined {
  if (note === undefined || description === undefined) return description ?? note;
  return `${description}${/[.!?)]$/.test(description) ? '' : '.'} ${note}`;
}

/** Adds the notes on version ranges to the descriptions of a schema and of all schemas that it contains. */
export function annotate(schema: Json, name: string, notes: WindowNotes): Json {
  const annotatedSchema = { ...schema } as Record<string, unknown>;
  for (const kind of ['anyOf', 'oneOf', 'allOf']) {
    // All alternatives have the name of the part to which they belong, and only the part itself gets the note.
    const notesOfOtherParts: WindowNotes = { ...notes, of: (part) => (part === name ? undefined : notes.of(part)) };
    if (annotatedSchema[kind])
      annotatedSchema[kind] = (annotatedSchema[kind] as Json[]).map((variant) =>
        annotate(variant, name, notesOfOtherParts),
      );
  }
  if (annotatedSchema.properties) {
    const entries = Object.entries(annotatedSchema.properties as Record<string, Json>);
    annotatedSchema.properties = Object.fromEntries(
      entries.map(([key, field]) => [key, annotate(field, `${name}.${key}`, notes)]),
    );
  }
  if (annotatedSchema.items) annotatedSchema.items = annotate(annotatedSchema.items as Json, `${name}[]`, notes);
  if (annotatedSchema.additionalProperties && typeof annotatedSchema.additionalProperties === 'object') {
    const values = annotatedSchema.additionalProperties as Json;
    if (Object.keys(values).length > 0) annotatedSchema.additionalProperties = annotate(values, `${name}.*`, notes);
  }
  const description = withNote(schema.description as string | undefined, notes.of(name));
  return description === undefined ? annotatedSchema : { ...annotatedSchema, description };
}
