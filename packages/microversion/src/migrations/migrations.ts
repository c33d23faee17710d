import { Version, type VersionLike } from '../version.js';
import { mergeBreakpoints, PerInterval } from '../windowed.js';

/** Converts the body of a request or a response. Returns a new value and must not change its argument. */
export type Convert = (body: never) => unknown;

/** One breaking change of an API, with the conversions that keep older clients working. */
export interface VersionChange {
  /** The first version that has the new body format. */
  readonly version: VersionLike;
  /** A description of the change, for the changelog. */
  readonly summary: string;
  /**
   * For each operation name, a function that converts a request body from the format before the change to the format
   * after it.
   */
  readonly requests?: Readonly<Record<string, Convert>>;
  /**
   * For each operation name, a function that converts a response body from the format after the change to the format
   * before it.
   */
  readonly responses?: Readonly<Record<string, Convert>>;
}

/**
 * The functions that convert the request and response body of one operation at one version; undefined where nothing
 * changes.
 */
export interface Conversions {
  readonly request: ((body: unknown) => unknown) | undefined;
  readonly response: ((body: unknown) => unknown) | undefined;
}

/** The breaking changes of an API. Handlers use the newest body format, and each client uses the format of its own version. */
export interface Migrations {
  /** The breaking changes, oldest first. */
  readonly changes: readonly (Omit<VersionChange, 'version'> & { readonly version: Version })[];
  /** The names of all operations that have conversions. */
  readonly names: readonly string[];
  /** Returns the conversions of an operation at a version. They are composed once for each interval between changes. */
  readonly at: (name: string, version: Version) => Conversions | undefined;
  /** Converts a request body from the format of a version to the newest format. */
  readonly request: (name: string, body: unknown, version: VersionLike) => unknown;
  /** Converts a response body from the newest format to the format of a version. */
  readonly response: (name: string, body: unknown, version: VersionLike) => unknown;
}

type Conversion = (body: unknown) => unknown;

/** Combines conversions into one function that applies them in order. Returns undefined if there are none. */
function composeConversions(steps: readonly Conversion[]): Conversion | undefined {
  const [first, ...others] = steps;
  return first && ((body) => others.reduce((converted, step) => step(converted), first(body)));
}

/**
 * Defines the breaking changes of an API as conversions between body formats. Use this instead of windows if the whole
 * format of a body changes. All changes above the version of a request are applied: to request bodies in ascending
 * order, to response bodies in descending order.
 *
 * @throws TypeError if a version is malformed, or two changes have the same version
 *
 * @example
 * ```ts
 * import { migrations } from '@apistrata/microversion';
 *
 * const history = migrations([
 *   {
 *     version: '2025-03-01',
 *     summary: 'Amounts are objects',
 *     requests: { createInvoice: ({ amount }: { amount: number }) => ({ amount: { cents: amount } }) },
 *     responses: { showInvoice: ({ amount }: { amount: { cents: number } }) => ({ amount: amount.cents }) },
 *   },
 * ]);
 * history.response('showInvoice', { amount: { cents: 5 } }, '2024-01-31'); // { amount: 5 }
 * ```
 */
export function migrations(list: readonly VersionChange[]): Migrations {
  const changes = list
    .map((change) => ({ ...change, version: Version.of(change.version) }))
    .sort((a, b) => a.version.compare(b.version));
  const duplicate = changes.find(({ version }, index) => changes[index + 1]?.version.text === version.text);
  if (duplicate) throw new TypeError(`migrations: two changes have the version ${duplicate.version}: combine them`);
  const names = [...new Set(changes.flatMap(({ requests, responses }) => Object.keys({ ...requests, ...responses })))];
  const conversionsByName = new Map(names.map((name) => [name, conversionsOf(name)]));

  function conversionsOf(name: string): PerInterval<Conversions> {
    const hasConversion = (steps: VersionChange['requests']) => steps !== undefined && Object.hasOwn(steps, name);
    const relevantChanges = changes.filter(
      ({ requests, responses }) => hasConversion(requests) || hasConversion(responses),
    );
    return new PerInterval(mergeBreakpoints(relevantChanges.map(({ version }) => version)), (version) => {
      const laterChanges = relevantChanges.filter((change) => change.version.compare(version) > 0);
      const steps = (kind: 'requests' | 'responses') =>
        laterChanges.flatMap((change) => (hasConversion(change[kind]) ? [change[kind]?.[name] as Conversion] : []));
      return {
        request: composeConversions(steps('requests')),
        response: composeConversions(steps('responses').reverse()),
      };
    });
  }

  const at = (name: string, version: Version) => conversionsByName.get(name)?.at(version);
  const createConverter = (kind: keyof Conversions) => (name: string, body: unknown, version: VersionLike) => {
    const step = at(name, Version.of(version))?.[kind];
    return step ? step(body) : body;
  };
  return { changes, names, at, request: createConverter('request'), response: createConverter('response') };
}
