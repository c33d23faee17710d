import { notInVersion, RequestError, type Version } from '@apistrata/microversion';
import findMyWay from 'find-my-way';
import { groupBy } from './group-by.js';
import { existsAt, type Method, type Operation, windowsOfOperation } from './operation.js';

/**
 * The operations with the same method and path. One is selected by version, or by the action key of the body and then
 * by version.
 */
export interface Route {
  readonly operations: readonly Operation[];
  readonly actions: ReadonlyMap<string | undefined, readonly Operation[]> | undefined;
}

export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string | undefined>>;
}

export interface RouteTable {
  find(method: string, path: string): RouteMatch | undefined;
}

function haveOverlappingWindows(a: Operation, b: Operation): boolean {
  const startsWithin = (one: Operation, other: Operation) =>
    windowsOfOperation(one).some(({ since }) =>
      since ? existsAt(other, since) : windowsOfOperation(other).some((w) => !w.since),
    );
  return startsWithin(a, b) || startsWithin(b, a);
}

function routeOf(operations: readonly [Operation, ...Operation[]]): Route {
  for (const [index, one] of operations.entries()) {
    for (const other of operations.slice(index + 1)) {
      if (one.action === other.action && haveOverlappingWindows(one, other)) {
        throw new TypeError(
          `two operations define ${one.method} ${one.path}${one.action ? ` ${one.action}` : ''} at the same versions: end one where the other begins`,
        );
      }
    }
  }
  const actions = groupBy(operations, ({ action }) => action);
  if (!actions.has(undefined)) return { operations, actions };
  if (actions.size > 1) throw new TypeError(`${operations[0].path} mixes operations with and without an action key`);
  return { operations, actions: undefined };
}

/** The latest route table for each array of operations, with a copy of the operations from which it was built. */
const tablesByOperations = new WeakMap<
  readonly Operation[],
  { readonly operations: readonly Operation[]; readonly table: RouteTable }
>();

/**
 * Returns the route table. Routers for the same array share one table, because building and storing its tree is expensive.
 * @throws TypeError if two operations have the same method, path, action and version
 */
export function routeTable(operations: readonly Operation[]): RouteTable {
  const cached = tablesByOperations.get(operations);
  const isCurrent =
    cached?.operations.length === operations.length &&
    cached.operations.every((operation, index) => operation === operations[index]);
  if (isCurrent) return cached.table;
  const table = buildTable(operations);
  tablesByOperations.set(operations, { operations: [...operations], table });
  return table;
}

function buildTable(operations: readonly Operation[]): RouteTable {
  const tree = findMyWay({ maxParamLength: 4096, caseSensitive: true, ignoreTrailingSlash: false });
  const operationsByRoute = groupBy(
    operations,
    ({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`,
  );
  for (const group of operationsByRoute.values()) {
    const [first] = group;
    const { method, path } = first;
    const parameterNames = (operation: Operation) =>
      [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]).join();
    const other = group.find((operation) => parameterNames(operation) !== parameterNames(first));
    if (other)
      throw new TypeError(`${other.path} and ${path} are the same path: use the same names for their parameters`);
    const pattern = path.replaceAll(/\{([^}]+)\}/g, ':$1');
    tree.on(method, pattern, () => {}, routeOf(group));
  }
  return {
    find: (method, path) => {
      const match = tree.find(method as Method, path);
      // The tree matches a trailing slash as an empty parameter, but paths with an empty parameter or NUL are unknown.
      if (!match?.store) return undefined;
      const { params } = match;
      // `for...in` is safe, because `params` has no inherited properties, and does not allocate an array.
      for (const name in params) if (!params[name] || params[name].includes('\0')) return undefined;
      return { route: match.store as Route, params };
    },
  };
}

/** Returns the operations for the action that the only key of the body names. @throws RequestError if the action is unknown */
function operationsOfAction(actions: NonNullable<Route['actions']>, body: unknown): readonly Operation[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError('MALFORMED_BODY', 'Malformed request body');
  const [key, ...others] = Object.keys(body);
  if (key === undefined) throw new RequestError('UNKNOWN_ACTION', 'No action specified');
  if (others.length > 0) throw new RequestError('UNKNOWN_ACTION', 'Multiple actions specified');
  const operations = actions.get(key);
  if (!operations) throw new RequestError('UNKNOWN_ACTION', `There is no such action: ${key}`);
  return operations;
}

/** Returns the operations that can serve a request at some version: all operations of the route, or those of an action. */
export function candidatesOf(route: Route, body: unknown): readonly Operation[] {
  return route.actions ? operationsOfAction(route.actions, body) : route.operations;
}

/** Returns the operation that exists at the version. @throws RequestError if none exists */
export function operationAt(candidates: readonly Operation[], version: Version): Operation {
  const existingOperation = candidates.find((operation) => existsAt(operation, version));
  if (!existingOperation) throw notInVersion();
  return existingOperation;
}
