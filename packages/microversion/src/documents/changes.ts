import { groupBy } from '../router/group-by.js';
import { existsAt, type Operation } from '../router/operation.js';
import { Version, type VersionLike } from '../version.js';
import { breakingReason } from './breaking.js';
import { nameOf, operationKey, tagOf } from './names.js';
import { breakpointsOfOperation, holderOf, type Outline, outlineOf, type Part } from './outline.js';

/** What differs for one part of an operation between two versions. */
export interface PartChange {
  /** Dotted name: `status`, `errors.409`, `query.limit`, `body.server.name`, `reply.servers[].id`. */
  readonly name: string;
  readonly change: 'added' | 'removed' | 'altered';
  /** The version of the last step that changed it. */
  readonly version: string;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
  /** Why it may break a client of the earlier version; undefined where it does not. */
  readonly breaking: string | undefined;
}

/** What differs for one operation between two versions. */
export interface OperationChange {
  /** `METHOD /path action`. */
  readonly operation: string;
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** The version of the first step that changed it. */
  readonly version: string;
  /** Empty for what was added or removed as a whole. */
  readonly parts: readonly PartChange[];
  /** Whether anything of it may break a client of the earlier version. */
  readonly breaking: boolean;
}

function sameRules(one: Part, other: Part): boolean {
  if (one.required !== other.required || one.closed !== other.closed) return false;
  const plain = ({ description, ...rules }: Part['rules']) => JSON.stringify(rules);
  return one.rules === other.rules || plain(one.rules) === plain(other.rules);
}

/** Operations of one key follow each other in time; the one of a version is the one that exists there. */
type Lifeline = readonly Operation[];

function presentAt(line: Lifeline, version: Version): Operation | undefined {
  return line.find((operation) => existsAt(operation, version));
}

function outlineAt(line: Lifeline, version: Version): Outline | undefined {
  const operation = presentAt(line, version);
  return operation && outlineOf(operation, version);
}

/** The versions above the first and up to the second at which the operation may change. */
function steps(line: Lifeline, from: Version, to: Version): readonly Version[] {
  const all = new Map(line.flatMap((operation) => breakpointsOfOperation(operation).map((v) => [v.text, v])));
  const between = [...all.values()].filter((version) => version.compare(from) > 0 && version.compare(to) <= 0);
  return between.sort((a, b) => a.compare(b));
}

/** The step that made a part what it is at the end. */
function changedAt(line: Lifeline, name: string, from: Version, to: Version): Version {
  let previous = outlineAt(line, from)?.parts.get(name);
  let latest = to;
  for (const version of steps(line, from, to)) {
    const part = outlineAt(line, version)?.parts.get(name);
    if (!part !== !previous || (part && previous && !sameRules(part, previous))) latest = version;
    previous = part;
  }
  return latest;
}

/** What came or went as a whole is told once, not again for all that lies in it. */
function isWithinChanged(name: string, was: Outline, is: Outline): boolean {
  const holder = holderOf(name);
  return holder !== name && was.parts.has(holder) !== is.parts.has(holder);
}

function partChanges(line: Lifeline, was: Outline, is: Outline, from: Version, to: Version): PartChange[] {
  const names = new Set([...was.parts.keys(), ...is.parts.keys()]);
  return [...names].flatMap((name): PartChange[] => {
    if (isWithinChanged(name, was, is)) return [];
    const [before, after] = [was.parts.get(name), is.parts.get(name)];
    if (before && after && sameRules(before, after)) return [];
    const change = !before ? 'added' : !after ? 'removed' : 'altered';
    const breaking = breakingReason({ name, before, after }, is);
    return [{ name, change, version: changedAt(line, name, from, to).text, before, after, breaking }];
  });
}

function changeOf(line: Lifeline, from: Version, to: Version): OperationChange | undefined {
  const stepsBetween = steps(line, from, to);
  if (stepsBetween.length === 0) return undefined;
  const [was, is] = [outlineAt(line, from), outlineAt(line, to)];
  const operation = presentAt(line, to) ?? presentAt(line, from);
  if (was === is || !operation) return undefined;
  const common = {
    operation: operationKey(operation),
    name: nameOf(operation),
    tag: tagOf(operation),
    summary: operation.summary,
  };
  if (!was || !is) {
    let turned = to;
    let before = from;
    for (const version of stepsBetween) {
      if (!outlineAt(line, version) !== !outlineAt(line, before)) turned = version;
      before = version;
    }
    return { ...common, change: is ? 'added' : 'removed', version: turned.text, parts: [], breaking: !is };
  }
  const parts = partChanges(line, was, is, from, to);
  const [first] = parts.map(({ version }) => Version.of(version)).sort((a, b) => a.compare(b));
  if (!first) return undefined;
  return {
    ...common,
    change: 'changed',
    version: first.text,
    parts,
    breaking: parts.some(({ breaking }) => breaking !== undefined),
  };
}

const lifelines = new WeakMap<readonly Operation[], readonly Lifeline[]>();

function lifelinesOf(operations: readonly Operation[]): readonly Lifeline[] {
  let known = lifelines.get(operations);
  if (!known) {
    known = [...groupBy(operations, operationKey).values()];
    lifelines.set(operations, known);
  }
  return known;
}

/**
 * What a client meets when it goes from one version to another, operation by operation, down to fields, parameters,
 * statuses and the limits of schemas, as data. Operations between whose versions nothing changes cost nothing.
 *
 * @param from the earlier version
 * @param to the later one; a RangeError when it is below `from`
 */
export function changesBetween(
  operations: readonly Operation[],
  from: VersionLike,
  to: VersionLike,
): readonly OperationChange[] {
  const [before, after] = [Version.of(from), Version.of(to)];
  if (before.compare(after) > 0) throw new RangeError(`changesBetween(): ${after} is below ${before}: swap the two`);
  return lifelinesOf(operations).flatMap((line) => changeOf(line, before, after) ?? []);
}
