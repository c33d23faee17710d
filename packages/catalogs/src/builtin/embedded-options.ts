import type { Store } from '@apistrata/record-store';

/** The clock of the built-in catalogs. `now()` returns milliseconds since the epoch. */
export interface CatalogClock {
  now(): number;
}

/** How a catalog handles an unknown id: it rejects the request, or creates a plausible resource with that id. */
export type UnknownIdPolicy = 'reject' | 'accept';

/** Options that all built-in services share. */
export interface EmbeddedOptions {
  readonly store: Store;
  /** The source of the current time. Default: the system clock. */
  readonly clock?: CatalogClock;
  /** How the catalog handles unknown ids. Default: `reject`. */
  readonly unknown?: UnknownIdPolicy;
}

/** The validated options of a built-in catalog, with defaults for omitted ones. */
export interface EmbeddedContext {
  readonly store: Store;
  readonly clock: CatalogClock;
  readonly acceptsUnknownIds: boolean;
}

export function embeddedContext(
  catalog: string,
  options: EmbeddedOptions,
  knownNames: readonly string[] = [],
): EmbeddedContext {
  const unknown = options.unknown ?? 'reject';
  const unexpectedOption = Object.keys(options).find(
    (key) => !['store', 'clock', 'unknown', ...knownNames].includes(key),
  );
  if (unexpectedOption) throw new TypeError(`${catalog}: unknown option "${unexpectedOption}"`);
  if (unknown !== 'reject' && unknown !== 'accept')
    throw new TypeError(`${catalog}: "unknown" must be "reject" or "accept", not ${JSON.stringify(unknown)}`);
  return {
    store: options.store,
    clock: options.clock ?? { now: () => Date.now() },
    acceptsUnknownIds: unknown === 'accept',
  };
}
