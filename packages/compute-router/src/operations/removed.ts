import type { Method, Operation } from '@apistrata/microversion/router';
import { query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { Gone } from '../http/gone.js';
import { operation } from '../operation.js';

/** What is gone: a path, and the methods or, of a path that takes actions, the keys. */
interface Removal {
  readonly path: string;
  readonly methods?: readonly Method[];
  readonly actions?: readonly string[];
}

/** Operations that answer 410 at every version, whatever the query and the object in the body. */
const removals: readonly Removal[] = [
  { path: '/os-agents', methods: ['GET', 'POST'] },
  { path: '/os-agents/{id}', methods: ['PUT', 'DELETE'] },
  { path: '/os-cells', methods: ['GET', 'POST'] },
  { path: '/os-cells/capacities', methods: ['GET'] },
  { path: '/os-cells/detail', methods: ['GET'] },
  { path: '/os-cells/info', methods: ['GET'] },
  { path: '/os-cells/sync_instances', methods: ['POST'] },
  { path: '/os-cells/{id}', methods: ['GET', 'PUT', 'DELETE'] },
  { path: '/os-cells/{id}/capacities', methods: ['GET'] },
  { path: '/os-certificates', methods: ['POST'] },
  { path: '/os-certificates/{id}', methods: ['GET'] },
  { path: '/os-cloudpipe', methods: ['GET', 'POST'] },
  { path: '/os-cloudpipe/{id}', methods: ['PUT'] },
  { path: '/os-fixed-ips/{id}/action', actions: ['reserve', 'unreserve'] },
  { path: '/os-floating-ip-dns/{id}', methods: ['PUT', 'DELETE'] },
  { path: '/os-floating-ip-dns/{domain_id}/entries/{id}', methods: ['PUT', 'DELETE'] },
  { path: '/os-floating-ips-bulk', methods: ['POST'] },
  { path: '/os-floating-ips-bulk/{id}', methods: ['PUT'] },
  { path: '/os-fping', methods: ['GET'] },
  { path: '/os-fping/{id}', methods: ['GET'] },
  { path: '/os-networks', methods: ['POST'] },
  { path: '/os-networks/add', methods: ['POST'] },
  { path: '/os-networks/{id}', methods: ['DELETE'] },
  {
    path: '/os-networks/{id}/action',
    actions: ['disassociate', 'associate_host', 'disassociate_host', 'disassociate_project'],
  },
  { path: '/os-security-group-default-rules', methods: ['GET', 'POST'] },
  { path: '/os-security-group-default-rules/{id}', methods: ['GET', 'DELETE'] },
  { path: '/os-tenant-networks', methods: ['POST'] },
  { path: '/os-tenant-networks/{id}', methods: ['DELETE'] },
  { path: '/servers/{id}/action', actions: ['resetNetwork'] },
  { path: '/servers/{server_id}/consoles', methods: ['GET', 'POST'] },
  { path: '/servers/{server_id}/consoles/{id}', methods: ['GET', 'DELETE'] },
];

/** Parameters are read nowhere, so none is refused at any version. */
const anyQuery = query({}, { extra: 'ignore' });
/** An absent body, or one that is no object, is still the client's mistake. */
const anyObject = z.looseObject({});

function gone(method: Method, path: string, action?: string): Operation {
  return operation({
    method,
    path,
    action,
    summary: `Removed: ${action ?? `${method} ${path}`}`,
    status: 410,
    errors: [400],
    query: anyQuery,
    body: method === 'POST' || method === 'PUT' ? anyObject : undefined,
    run: () => {
      throw new Gone('This resource is no longer available. No forwarding address is given.');
    },
  });
}

export const removedOperations: readonly Operation[] = removals.flatMap(({ path, methods = [], actions = [] }) => [
  ...methods.map((method) => gone(method, path)),
  ...actions.map((action) => gone('POST', path, action)),
]);
