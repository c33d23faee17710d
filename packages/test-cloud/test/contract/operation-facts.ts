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
  /** The error status for project members, if it rejects all of their requests; 404 for a missing resource. */
  readonly member?: number;
  /** The least role in a project that an operation requires to change the project's resources. */
  readonly role?: 'member' | 'manager' | 'admin';
  /** The policy that requires the role. */
  readonly policy?: string;
  /** A valid body, if a request without it is rejected before the caller is authorized. */
  readonly body?: object;
  /** Whether a request with a body is rejected with 400. */
  readonly rejectsBody?: true;
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

const NO_PROVIDER = 'Requires a login at an external identity provider and a web server module that verifies it';

/** Operations of the original services that the test cloud does not serve, with the reasons. */
export const NOT_SERVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  network: {
    'GET /v2.0/flavors/{}/service_profiles/{}': 'the response has no field; clients read the profiles of the flavor',
  },
  identity: {
    'GET /v3/OS-FEDERATION/identity_providers/{}/protocols/{}/auth': NO_PROVIDER,
    'POST /v3/OS-FEDERATION/identity_providers/{}/protocols/{}/auth': NO_PROVIDER,
    'GET /v3/auth/OS-FEDERATION/identity_providers/{}/protocols/{}/websso': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/identity_providers/{}/protocols/{}/websso': NO_PROVIDER,
    'GET /v3/auth/OS-FEDERATION/websso/{}': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/websso/{}': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/saml2': 'Signs SAML assertions with the certificate of an identity provider',
    'POST /v3/auth/OS-FEDERATION/saml2/ecp': 'Signs SAML assertions with the certificate of an identity provider',
    'GET /v3/OS-FEDERATION/saml2/metadata': 'Returns a file that administrators generate for a certificate',
    'GET /v3/OS-REVOKE/events': 'Revoked tokens are removed from the table of tokens, without events',
    'POST /v3/ec2tokens': 'Verifies requests to an EC2 API, which the cloud does not have',
  },
  volume: {
    ...Object.fromEntries(
      [
        'POST /v3/consistencygroups',
        'POST /v3/consistencygroups/create_from_src',
        'GET /v3/consistencygroups/{}',
        'PUT /v3/consistencygroups/{}',
        'PUT /v3/consistencygroups/{}/update',
        'POST /v3/consistencygroups/{}/delete',
        'POST /v3/cgsnapshots',
        'GET /v3/cgsnapshots/{}',
        'DELETE /v3/cgsnapshots/{}',
      ].map((key) => [key, 'groups replace consistency groups, and their lists are empty']),
    ),
    'PUT /v3/os-services/get-log': 'the log levels belong to the processes of the original',
    'PUT /v3/os-services/set-log': 'the log levels belong to the processes of the original',
  },
};
