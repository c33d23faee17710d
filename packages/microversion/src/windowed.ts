import { Version, type VersionLike } from './version.js';

/** Open at its upper end, at its lower end, or at neither. */
export type WindowKind = 'since' | 'until' | 'between';

/** A value that exists between two versions, both included; a missing bound is no bound. */
export class Window<T, Kind extends WindowKind = WindowKind> {
  readonly since: Version | undefined;
  readonly until: Version | undefined;
  readonly value: T;
  /** Never set: tells the type checker which ends of history a list of windows reaches. */
  declare readonly kind: Kind;

  constructor(since: VersionLike | undefined, until: VersionLike | undefined, value: T) {
    this.since = since === undefined ? undefined : Version.of(since);
    this.until = until === undefined ? undefined : Version.of(until);
    this.value = value;
    if (this.since && this.until && this.since.compare(this.until) > 0) {
      throw new RangeError(`the window ${describe(this)} is empty: its first version is above its last`);
    }
  }

  has(version: Version): boolean {
    return version.within(this.since, this.until);
  }
}

/** A value with its history: the same at every version, or one window, or successive windows with or without gaps. */
export type Windowed<T> = T | Window<T> | readonly Window<T>[];

/** The value as it is from a version on. */
export function since<const T>(first: VersionLike, value: T): Window<T, 'since'> {
  return new Window(first, undefined, value);
}

/** The value as it is up to a version, that one included. */
export function until<const T>(last: VersionLike, value: T): Window<T, 'until'> {
  return new Window(undefined, last, value);
}

/** The value as it is from one version to another, both included. */
export function between<const T>(first: VersionLike, last: VersionLike, value: T): Window<T, 'between'> {
  return new Window(first, last, value);
}

function describe(window: Window<unknown>): string {
  return `${window.since?.text ?? 'first'}..${window.until?.text ?? 'latest'}`;
}

/** True for what `since`, `until` and `between` make, or a list of those. */
export function isWindowed(value: unknown): value is Window<unknown> | readonly Window<unknown>[] {
  return (
    value instanceof Window || (Array.isArray(value) && value.length > 0 && value.every((v) => v instanceof Window))
  );
}

function sortKey(window: Window<unknown>, other: Window<unknown>): number {
  if (!window.since || !other.since) return window.since ? 1 : other.since ? -1 : 0;
  return window.since.compare(other.since);
}

const ordered = new WeakMap<object, readonly Window<unknown>[]>();

/**
 * The windows of a value, lowest first. A plain value is one window without bounds.
 * Throws a RangeError that names both windows when two overlap.
 */
export function windowsOf<T>(value: Windowed<T>): readonly Window<T>[] {
  if (!isWindowed(value)) return [new Window<T>(undefined, undefined, value as T)];
  const known = ordered.get(value);
  if (known) return known as readonly Window<T>[];
  const windows = (Array.isArray(value) ? [...value] : [value]) as Window<T>[];
  windows.sort(sortKey);
  windows.forEach((window, index) => {
    const previous = windows[index - 1];
    if (previous && (!previous.until || !window.since || previous.until.compare(window.since) >= 0)) {
      throw new RangeError(
        `the windows ${describe(previous)} and ${describe(window)} overlap: end the first below the second`,
      );
    }
  });
  ordered.set(value, windows);
  return windows;
}

/** The value at a version; undefined in a gap. */
export function at<T>(value: Windowed<T>, version: VersionLike): T | undefined {
  if (!isWindowed(value)) return value as T;
  const exact = Version.of(version);
  for (const window of windowsOf(value as Windowed<T>)) if (window.has(exact)) return window.value;
  return undefined;
}

/**
 * The versions at which a value changes: each window's first version and the one after its last, ascending,
 * without repeats. Between two neighbours nothing changes, so work can be kept per interval.
 */
export function breakpointsOf(...values: readonly Windowed<unknown>[]): readonly Version[] {
  const changes = values.flatMap((value) =>
    isWindowed(value) ? windowsOf(value).flatMap((window) => [window.since, window.until?.next()]) : [],
  );
  return mergeBreakpoints(changes.filter((version) => version !== undefined));
}

/** Sorts versions ascending and drops repeats. */
export function mergeBreakpoints(versions: Iterable<Version>): readonly Version[] {
  const byText = new Map([...versions].map((version) => [version.text, version]));
  return [...byText.values()].sort((a, b) => a.compare(b));
}

/**
 * Keeps one built thing per interval between breakpoints, made on first use.
 * Versions between which nothing changes share one object.
 */
export class PerInterval<T> {
  readonly #breakpoints: readonly Version[];
  readonly #build: (version: Version) => T;
  readonly #built: (T | undefined)[];
  readonly #byVersion = new Map<string, T>();

  constructor(breakpoints: readonly Version[], build: (version: Version) => T) {
    this.#breakpoints = breakpoints;
    this.#build = build;
    this.#built = new Array(breakpoints.length + 1);
  }

  at(version: Version): T {
    const known = this.#byVersion.get(version.text);
    if (known !== undefined) return known;
    const above = this.#breakpoints.findIndex((breakpoint) => breakpoint.compare(version) > 0);
    const interval = above < 0 ? this.#breakpoints.length : above;
    const built = (this.#built[interval] ??= this.#build(version));
    this.#byVersion.set(version.text, built);
    return built;
  }
}

/** The same history, but nothing of it below a version; undefined when nothing is left. */
export function notBefore<T>(first: VersionLike, value: Windowed<T>): readonly Window<T>[] | undefined {
  const floor = Version.of(first);
  const kept = windowsOf(value)
    .filter((window) => !window.until || window.until.compare(floor) >= 0)
    .map((window) => {
      const lower = window.since && window.since.compare(floor) > 0 ? window.since : floor;
      return new Window<T>(lower, window.until, window.value);
    });
  return kept.length > 0 ? kept : undefined;
}

/** The same history, but nothing of it above a version; undefined when nothing is left. */
export function notAfter<T>(last: VersionLike, value: Windowed<T>): readonly Window<T>[] | undefined {
  const ceiling = Version.of(last);
  const kept = windowsOf(value)
    .filter((window) => !window.since || window.since.compare(ceiling) <= 0)
    .map((window) => {
      const upper = window.until && window.until.compare(ceiling) < 0 ? window.until : ceiling;
      return new Window<T>(window.since, upper, window.value);
    });
  return kept.length > 0 ? kept : undefined;
}
