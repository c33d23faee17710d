import { Version, type VersionLike } from '@apistrata/microversion';
import { groupBy } from '../router/group-by.js';
import { existsAt, type Operation } from '../router/operation.js';
import { breakingReason } from './breaking.js';
import { nameOf, operationKey, tagOf } from './names.js';
import {
  breakpointsOfOperation,
  type OperationShape,
  operationShape,
  type Part,
  parentPart,
} from './operation-shape.js';

/** How one part of an operation differs between two versions. */
export interface PartChange {
  /** The dotted name of the part: `status`, `errors.409`, `query.limit`, `body.server.name`, `reply.servers[].id`. */
  readonly name: string;
  readonly change: 'added' | 'removed' | 'altered';
  /** The last of the compared versions that changed the part. */
  readonly version: string;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
  /** Why the change breaks clients of the earlier version; undefined if it is compatible. */
  readonly breaking: string | undefined;
}

/** How one operation differs between two versions. */
export interface OperationChange {
  /** The operation key: `METHOD /path action`. */
  readonly operation: string;
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** The version that added or removed the operation, or the first version that changed one of its parts. */
  readonly version: string;
  /** The changed parts. Empty if the operation was added or removed. */
  readonly parts: readonly PartChange[];
  /** Whether any of the changes breaks clients of the earlier version. */
  readonly breaking: boolean;
}

function haveSameRules(one: Part, other: Part): boolean {
  if (one.required !== other.required || one.closed !== other.closed) return false;
  if (one.reference !== other.reference) return false;
  const rulesJson = ({ description, title, ...rules }: Part['rules']) => JSON.stringify(rules);
  return one.rules === other.rules || rulesJson(one.rules) === rulesJson(other.rules);
}

/** All operations with the same key, in version order. At most one of them exists at a version. */
type History = readonly Operation[];

function operationAt(history: History, version: Version): Operation | undefined {
  return history.find((operation) => existsAt(operation, version));
}

function shapeAt(history: History, version: Version): OperationShape | undefined {
  const operation = operationAt(history, version);
  return operation && operationShape(operation, version);
}

/** Returns the versions above `from`, up to and including `to`, at which the operation may change, in ascending order. */
function breakpointsBetween(history: History, from: Version, to: Version): readonly Version[] {
  const breakpointsByText = new Map(
    history.flatMap((operation) => breakpointsOfOperation(operation).map((v) => [v.text, v])),
  );
  const breakpointsInRange = [...breakpointsByText.values()].filter(
    (version) => version.compare(from) > 0 && version.compare(to) <= 0,
  );
  return breakpointsInRange.sort((a, b) => a.compare(b));
}

/** Returns the last version above `from`, up to and including `to`, that changed a part of the operation. */
function lastChangeOf(history: History, name: string, from: Version, to: Version): Version {
  let previous = shapeAt(history, from)?.parts.get(name);
  let latest = to;
  for (const version of breakpointsBetween(history, from, to)) {
    const part = shapeAt(history, version)?.parts.get(name);
    if (!part !== !previous || (part && previous && !haveSameRules(part, previous))) latest = version;
    previous = part;
  }
  return latest;
}

/**
 * Returns whether a change is already covered by the enclosing part. If that part was added or removed, the parts in it
 * are not listed; if it refers to a shared schema, its parts are listed with the schema.
 */
function isCoveredByParent(name: string, oldShape: OperationShape, newShape: OperationShape): boolean {
  const parent = parentPart(name);
  if (parent === name) return false;
  const [before, after] = [oldShape.parts.get(parent), newShape.parts.get(parent)];
  return !before !== !after || before?.reference !== undefined || after?.reference !== undefined;
}

function partChanges(
  history: History,
  oldShape: OperationShape,
  newShape: OperationShape,
  from: Version,
  to: Version,
): PartChange[] {
  const names = new Set([...oldShape.parts.keys(), ...newShape.parts.keys()]);
  return [...names].flatMap((name): PartChange[] => {
    if (isCoveredByParent(name, oldShape, newShape)) return [];
    const [before, after] = [oldShape.parts.get(name), newShape.parts.get(name)];
    if (before && after && haveSameRules(before, after)) return [];
    const change = !before ? 'added' : !after ? 'removed' : 'altered';
    const breaking = breakingReason({ name, before, after }, newShape);
    return [{ name, change, version: lastChangeOf(history, name, from, to).text, before, after, breaking }];
  });
}

function changeOf(history: History, from: Version, to: Version): OperationChange | undefined {
  const breakpoints = breakpointsBetween(history, from, to);
  if (breakpoints.length === 0) return undefined;
  const [oldShape, newShape] = [shapeAt(history, from), shapeAt(history, to)];
  const operation = operationAt(history, to) ?? operationAt(history, from);
  if (oldShape === newShape || !operation) return undefined;
  const commonFields = {
    operation: operationKey(operation),
    name: nameOf(operation),
    tag: tagOf(operation),
    summary: operation.summary,
  };
  if (!oldShape || !newShape) {
    let changeVersion = to;
    let previous = from;
    for (const version of breakpoints) {
      if (!shapeAt(history, version) !== !shapeAt(history, previous)) changeVersion = version;
      previous = version;
    }
    return {
      ...commonFields,
      change: newShape ? 'added' : 'removed',
      version: changeVersion.text,
      parts: [],
      breaking: !newShape,
    };
  }
  const parts = partChanges(history, oldShape, newShape, from, to);
  const [earliestVersion] = parts.map(({ version }) => Version.of(version)).sort((a, b) => a.compare(b));
  if (!earliestVersion) return undefined;
  return {
    ...commonFields,
    change: 'changed',
    version: earliestVersion.text,
    parts,
    breaking: parts.some(({ breaking }) => breaking !== undefined),
  };
}

const histories = new WeakMap<readonly Operation[], readonly History[]>();

function historiesOf(operations: readonly Operation[]): readonly History[] {
  let cached = histories.get(operations);
  if (!cached) {
    cached = [...groupBy(operations, operationKey).values()];
    histories.set(operations, cached);
  }
  return cached;
}

/**
 * Returns what changed between two versions of an API, by operation: fields, parameters, statuses and schema limits.
 * Operations that are the same at both versions are omitted.
 *
 * @param from the earlier version
 * @param to the later version. @throws RangeError if `to` is below `from`
 */
export function changesBetween(
  operations: readonly Operation[],
  from: VersionLike,
  to: VersionLike,
): readonly OperationChange[] {
  const [before, after] = [Version.of(from), Version.of(to)];
  if (before.compare(after) > 0) throw new RangeError(`changesBetween(): ${after} is below ${before}: swap the two`);
  return historiesOf(operations).flatMap((history) => changeOf(history, before, after) ?? []);
}
