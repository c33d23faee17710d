import type { IncomingMessage, ServerResponse } from 'node:http';
import { nameOf } from '../documents/names.js';
import type { Conversions, Migrations } from '../migrations/migrations.js';
import { negotiatingOf } from '../negotiation/error-response.js';
import { microversionOf } from '../negotiation/negotiated.js';
import type { Version } from '../version.js';
import type { Window } from '../windowed.js';
import { type Operation, windowsOfOperation } from './operation.js';

/** Returns the version that a middleware has negotiated. @throws TypeError if there is none */
export function negotiatedBefore(req: IncomingMessage): Version {
  const version = microversionOf(req);
  if (version) return version;
  throw new TypeError('createRouter: no version was negotiated: put versioning() in front of it, or set `negotiate`');
}

const windowsOfRoutes = new WeakMap<readonly Operation[], readonly Window<unknown>[]>();

/** Writes `Deprecation` and `Sunset` if the newest version has none of the operations of a route. */
export function announceEnd(
  route: readonly Operation[],
  req: IncomingMessage,
  res: ServerResponse,
  version: Version,
): void {
  const writeEnd = negotiatingOf(req)?.writeEnd;
  if (!writeEnd) return;
  let windows = windowsOfRoutes.get(route);
  if (!windows) windowsOfRoutes.set(route, (windows = route.flatMap(windowsOfOperation)));
  writeEnd(res, windows, version);
}

/**
 * Returns the conversions of each operation that has some.
 *
 * @throws TypeError if the migrations name an operation that does not exist
 */
export function conversionsOf(operations: readonly Operation[], migrations: Migrations) {
  const knownIds = new Set(operations.map(nameOf));
  const unknown = migrations.names.find((name) => !knownIds.has(name));
  if (unknown !== undefined)
    throw new TypeError(`migrations: unknown operation '${unknown}' (known: ${[...knownIds].join(', ')})`);
  const named = operations.filter((operation) => migrations.names.includes(nameOf(operation)));
  return new Map<Operation, (version: Version) => Conversions | undefined>(
    named.map((operation) => [operation, (version) => migrations.at(nameOf(operation), version)]),
  );
}
