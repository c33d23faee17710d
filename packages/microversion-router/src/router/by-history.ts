import type { IncomingMessage } from 'node:http';
import { type Conversions, type Migrations, microversionOf, type Version, type Window } from '@apistrata/microversion';
import { nameOf } from '../documents/names.js';
import { type Operation, windowsOfOperation } from './operation.js';

/** Returns the version that earlier middleware has negotiated. @throws TypeError if no version was negotiated */
export function negotiatedVersion(req: IncomingMessage): Version {
  const version = microversionOf(req);
  if (version) return version;
  throw new TypeError(
    'createRouter: no version was negotiated; mount versioning() before the router, or set `negotiate`',
  );
}

const windowsOfRoutes = new WeakMap<readonly Operation[], readonly Window<unknown>[]>();

/** Returns the windows of a route's operations. The array is the same for each request, so that headers can be cached by it. */
export function windowsOfRoute(route: readonly Operation[]): readonly Window<unknown>[] {
  let windows = windowsOfRoutes.get(route);
  if (!windows) windowsOfRoutes.set(route, (windows = route.flatMap(windowsOfOperation)));
  return windows;
}

/**
 * Returns, by operation, a function that returns the conversions at a version. Omits operations without conversions.
 *
 * @throws TypeError if the migrations name an operation that does not exist
 */
export function conversionsByOperation(operations: readonly Operation[], migrations: Migrations) {
  const knownNames = new Set(operations.map(nameOf));
  const unknownName = migrations.names.find((name) => !knownNames.has(name));
  if (unknownName !== undefined)
    throw new TypeError(`migrations: unknown operation '${unknownName}' (known: ${[...knownNames].join(', ')})`);
  const convertedOperations = operations.filter((operation) => migrations.names.includes(nameOf(operation)));
  return new Map<Operation, (version: Version) => Conversions | undefined>(
    convertedOperations.map((operation) => [operation, (version) => migrations.at(nameOf(operation), version)]),
  );
}
