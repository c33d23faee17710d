// The operations of the services according to `reference/`, and the routes of the test cloud.
import { readFileSync } from 'node:fs';
import { identityRoutes } from '../../src/identity/identity.js';
import { imageRoutes } from '../../src/image/image.js';
import { networkRoutes } from '../../src/network/network.js';
import { placementRoutes } from '../../src/placement/placement.js';
import type { Route } from '../../src/service/route.js';
import { volumeRoutes } from '../../src/volume/volume.js';

export interface OperationFact {
  /** The status on success; several if it depends on the version or on the state. */
  readonly status: number | readonly number[];
  /** The first minor version that has the operation. */
  readonly since?: number;
  /** Whether the operation requires no token. */
  readonly open?: true;
  /** The error status for project members, if the operation rejects all of their requests. */
  readonly member?: number;
  /** The least role in a project that an operation requires to change the project's resources. */
  readonly role?: 'member' | 'manager' | 'admin';
  /** The policy that requires the role. */
  readonly policy?: string;
  /** A valid body, if a request without it is rejected before the caller is authorized. */
  readonly body?: object;
  /** Whether a request with a body is rejected with 400. */
  readonly noBody?: true;
}

export interface Operation extends OperationFact {
  readonly method: string;
  /** The path with its parameters in braces, such as `/v3/users/{user_id}`. */
  readonly path: string;
}

/** Returns the facts of a service (`identity`) from `reference/`. */
export const readFacts = (service: string): any =>
  JSON.parse(readFileSync(new URL(`../../../../reference/${service}.json`, import.meta.url), 'utf8'));

/** Returns the operations of a service, in the order of its facts: paths, then methods. */
export function operationsOf(service: string): readonly Operation[] {
  const paths: Readonly<Record<string, Readonly<Record<string, OperationFact>>>> = readFacts(service).operations;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, fact]) => ({ method, path, ...fact })),
  );
}

export const ROUTES: Readonly<Record<string, () => readonly Route[]>> = {
  identity: identityRoutes,
  image: imageRoutes,
  network: networkRoutes,
  placement: placementRoutes,
  volume: volumeRoutes,
};

/** Returns an operation without the names of its parameters: `GET /v3/users/{}`. */
export const operationKey = (method: string, path: string) =>
  `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}|:\w+/g, '{}')}`;
