import type { IncomingMessage, ServerResponse } from 'node:http';
import { nameOf } from '../documents/names.js';
import type { Conversions, Migrations } from '../migrations/migrations.js';
import { negotiationContextOf } from '../negotiation/error-response.js';
import { microversionOf } from '../negotiation/negotiated.js';
import type { Version } from '../version.js';
import type { Window } from '../windowed.js';
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

/** Writes `Deprecation` and `Sunset` headers if none of a route's operations exists at the newest version. */
export function announceEnd(
  route: readonly Operation[],
  req: IncomingMessage,
  res: ServerResponse,
  version: Version,
): void {
  const writeEndHeaders = negotiationContextOf(req)?.writeEndHeaders;
  if (!writeEndHeaders) return;
  let windows = windowsOfRoutes.get(route);
  if (!windows) windowsOfRoutes.set(route, (windows = route.flatMap(windowsOfOperation)));
  writeEndHeaders(res, windows, version);
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
