import { Version, type VersionLike } from '../version.js';
import { mergeBreakpoints, PerInterval } from '../windowed.js';

/** Converts the body of a request or a response. It returns a new value and must not change its argument. */
export type Convert = (body: never) => unknown;

/** One breaking change, with the conversions that keep older clients working. */
export interface VersionChange {
  /** The first version with the new form. */
  readonly version: VersionLike;
  /** The change, for the change log. */
  readonly summary: string;
  /** By operation name: converts the body of a request from the form before the change to the form after it. */
  readonly requests?: Readonly<Record<string, Convert>>;
  /** By operation name: converts the body of a response from the form after the change to the form before it. */
  readonly responses?: Readonly<Record<string, Convert>>;
}

/** The conversions of one operation at a version; undefined if none applies. */
export interface Conversions {
  readonly request: ((body: unknown) => unknown) | undefined;
  readonly response: ((body: unknown) => unknown) | undefined;
}

/** All breaking changes of an API: handlers read and write the newest form, and clients the form of their own version. */
export interface Migrations {
  /** The changes, oldest first. */
  readonly changes: readonly (Omit<VersionChange, 'version'> & { readonly version: Version })[];
  /** The names of all operations with conversions. */
  readonly names: readonly string[];
  /** Returns the conversions of an operation at a version. They are composed once per interval between changes. */
  readonly at: (name: string, version: Version) => Conversions | undefined;
  /** Converts the body of a request from the form of a version to the newest form. */
  readonly request: (name: string, body: unknown, version: VersionLike) => unknown;
  /** Converts the body of a response from the newest form to the form of a version. */
  readonly response: (name: string, body: unknown, version: VersionLike) => unknown;
}

type Step = (body: unknown) => unknown;

/** Applies steps one after the other. */
function composeSteps(steps: readonly Step[]): Step | undefined {
  const [first, ...others] = steps;
  return first && ((body) => others.reduce((converted, step) => step(converted), first(body)));
}

/**
 * Defines the breaking changes of an API by conversions: an alternative to windows where the form of a body changes as a
 * whole. All changes above the version of a request are applied: to request bodies in ascending order, to response bodies in
 * descending order.
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
  const byName = new Map(names.map((name) => [name, conversionsOf(name)]));

  function conversionsOf(name: string): PerInterval<Conversions> {
    const has = (steps: VersionChange['requests']) => steps !== undefined && Object.hasOwn(steps, name);
    const ownChanges = changes.filter(({ requests, responses }) => has(requests) || has(responses));
    return new PerInterval(mergeBreakpoints(ownChanges.map(({ version }) => version)), (version) => {
      const later = ownChanges.filter((change) => change.version.compare(version) > 0);
      const steps = (kind: 'requests' | 'responses') =>
        later.flatMap((change) => (has(change[kind]) ? [change[kind]?.[name] as Step] : []));
      return { request: composeSteps(steps('requests')), response: composeSteps(steps('responses').reverse()) };
    });
  }

  const at = (name: string, version: Version) => byName.get(name)?.at(version);
  const convert = (kind: keyof Conversions) => (name: string, body: unknown, version: VersionLike) => {
    const step = at(name, Version.of(version))?.[kind];
    return step ? step(body) : body;
  };
  return { changes, names, at, request: convert('request'), response: convert('response') };
}
