import { Version, type VersionLike } from './version.js';

/** The exclusive upper bound of a window that `before()` has created. */
export interface UpperBound<V> {
  readonly below: V;
}

/** Which bounds a window has: only a first version (`since`), only a last version (`until`), or both (`between`). */
export type WindowKind = 'since' | 'until' | 'between';

/**
 * A value that exists in a range of versions, bounds included. A missing bound leaves that end of the range open.
 * `Since` and `Until` are the types of the bounds, from which the types for one version are computed.
 */
export class Window<T, Kind extends WindowKind = WindowKind, Since = unknown, Until = unknown> {
  readonly since: Version | undefined;
  readonly until: Version | undefined;
  readonly value: T;
  /** Never set. For the type checker, which infers from it whether windows include the oldest and the newest version. */
  declare readonly kind: Kind;
  /** Never set. Exists only for the type checker, which infers from it the versions at which the value exists. */
  declare readonly bounds: readonly [Since, Until];

  /** The first version without the value. Set only in windows that {@link before} creates, in which `until` is undefined. */
  readonly below: Version | undefined;

  constructor(since: VersionLike | undefined, until: VersionLike | undefined, value: T, below?: VersionLike) {
    this.since = since === undefined ? undefined : Version.of(since);
    this.until = until === undefined ? undefined : Version.of(until);
    this.below = below === undefined ? undefined : Version.of(below);
    this.value = value;
    const { end } = this;
    if (this.since && end && this.since.compare(end) >= 0) {
      throw new RangeError(`the window ${describeWindow(this)} is empty: its first version is above its last`);
    }
  }

  /** The first version above the window; undefined if it has no upper bound. */
  get end(): Version | undefined {
    return this.below ?? this.until?.next();
  }

  has(version: Version): boolean {
    return version.within(this.since, this.until) && (!this.below || version.compare(this.below) < 0);
  }
}

/**
 * A value that may change between versions: a plain value for all versions, one window, or successive windows with or
 * without gaps.
 */
export type Windowed<T> = T | Window<T> | readonly Window<T>[];

/** Defines a value that exists since a version. */
export function since<const T, const V extends VersionLike = VersionLike>(
  first: V,
  value: T,
): Window<T, 'since', V, undefined> {
  return new Window(first, undefined, value);
}

/** Defines a value that exists until a version, inclusive. */
export function until<const T, const V extends VersionLike = VersionLike>(
  last: V,
  value: T,
): Window<T, 'until', undefined, V> {
  return new Window(undefined, last, value);
}

/** Defines a value that exists before a version, exclusive: `before('2026-11-22', x)`. */
export function before<const T, const V extends VersionLike = VersionLike>(
  first: V,
  value: T,
): Window<T, 'until', undefined, UpperBound<V>> {
  return new Window(undefined, undefined, value, first);
}

/** Defines a value that exists from one version to another, inclusive. */
export function between<const T, const S extends VersionLike = VersionLike, const U extends VersionLike = VersionLike>(
  first: S,
  last: U,
  value: T,
): Window<T, 'between', S, U> {
  return new Window(first, last, value);
}

function describeWindow(window: Window<unknown>): string {
  return `${window.since?.text ?? 'first'}..${window.until?.text ?? (window.below ? `below ${window.below}` : 'latest')}`;
}

/** Returns whether a value is a window or a list of windows. */
export function isWindowed(value: unknown): value is Window<unknown> | readonly Window<unknown>[] {
  return (
    value instanceof Window || (Array.isArray(value) && value.length > 0 && value.every((v) => v instanceof Window))
  );
}

function compareStarts(window: Window<unknown>, other: Window<unknown>): number {
  if (!window.since || !other.since) return window.since ? 1 : other.since ? -1 : 0;
  return window.since.compare(other.since);
}

const windowsByValue = new WeakMap<object, readonly Window<unknown>[]>();

/**
 * Returns the windows of a value, lowest first. A plain value results in one window without bounds.
 *
 * @throws RangeError if two windows overlap; the message contains both
 */
export function windowsOf<T>(value: Windowed<T>): readonly Window<T>[] {
  if (!isWindowed(value)) return [new Window<T>(undefined, undefined, value as T)];
  const cached = windowsByValue.get(value);
  if (cached) return cached as readonly Window<T>[];
  const windows = (Array.isArray(value) ? [...value] : [value]) as Window<T>[];
  windows.sort(compareStarts);
  windows.forEach((window, index) => {
    const previous = windows[index - 1];
    if (previous && (!previous.end || !window.since || previous.end.compare(window.since) > 0)) {
      throw new RangeError(
        `the windows ${describeWindow(previous)} and ${describeWindow(window)} overlap: end the first below the second`,
      );
    }
  });
  windowsByValue.set(value, windows);
  return windows;
}

/** Returns the value at a version, or undefined if no window includes that version. */
export function at<T>(value: Windowed<T>, version: VersionLike): T | undefined {
  if (!isWindowed(value)) return value as T;
  const parsedVersion = version instanceof Version ? version : Version.of(version);
  for (const window of windowsOf(value as Windowed<T>)) if (window.has(parsedVersion)) return window.value;
  return undefined;
}

/**
 * Returns the versions at which values change, in ascending order and without duplicates: the first version of each
 * window, and the first version after it. The values are the same from one of these versions until the next, so results
 * can be cached for each interval.
 */
export function breakpointsOf(...values: readonly Windowed<unknown>[]): readonly Version[] {
  const windowBounds = values.flatMap((value) =>
    isWindowed(value) ? windowsOf(value).flatMap((window) => [window.since, window.end]) : [],
  );
  return mergeBreakpoints(windowBounds.filter((version) => version !== undefined));
}

/** Sorts versions in ascending order and removes duplicates. */
export function mergeBreakpoints(versions: Iterable<Version>): readonly Version[] {
  const versionsByText = new Map([...versions].map((version) => [version.text, version]));
  return [...versionsByText.values()].sort((a, b) => a.compare(b));
}

/**
 * Builds and caches one value for each version interval between two breakpoints, on first use. All versions in an
 * interval share the value.
 */
export class PerInterval<T> {
  readonly #breakpoints: readonly Version[];
  readonly #build: (version: Version) => T;
  readonly #builtValues: (T | undefined)[];
  readonly #byVersion = new Map<string, T>();

  constructor(breakpoints: readonly Version[], build: (version: Version) => T) {
    this.#breakpoints = breakpoints;
    this.#build = build;
    this.#builtValues = new Array(breakpoints.length + 1);
  }

  at(version: Version): T {
    const cached = this.#byVersion.get(version.text);
    if (cached !== undefined) return cached;
    const nextBreakpointIndex = this.#breakpoints.findIndex((breakpoint) => breakpoint.compare(version) > 0);
    const interval = nextBreakpointIndex < 0 ? this.#breakpoints.length : nextBreakpointIndex;
    const builtValue = (this.#builtValues[interval] ??= this.#build(version));
    this.#byVersion.set(version.text, builtValue);
    return builtValue;
  }
}

/** Limits the windows of a value to versions from `first`. Returns undefined if no window remains. */
export function notBefore<T>(first: VersionLike, value: Windowed<T>): readonly Window<T>[] | undefined {
  const floor = Version.of(first);
  const selected = windowsOf(value)
    .filter(({ end }) => !end || end.compare(floor) > 0)
    .map((window) => {
      const lowerBound = window.since && window.since.compare(floor) > 0 ? window.since : floor;
      return new Window<T>(lowerBound, window.until, window.value, window.below);
    });
  return selected.length > 0 ? selected : undefined;
}

/** Limits the windows of a value to versions up to `last`. Returns undefined if no window remains. */
export function notAfter<T>(last: VersionLike, value: Windowed<T>): readonly Window<T>[] | undefined {
  const ceiling = Version.of(last);
  const selected = windowsOf(value)
    .filter((window) => !window.since || window.since.compare(ceiling) <= 0)
    .map((window) => {
      if (window.end && window.end.compare(ceiling) <= 0) return window;
      return new Window<T>(window.since, ceiling, window.value);
    });
  return selected.length > 0 ? selected : undefined;
}
