import { query } from '@apistrata/microversion/schema';
import { type Method, nameOf, type Operation } from '@apistrata/microversion-router';
import { z } from 'zod';
import { GoneError } from '../http/gone-error.js';
import { operation } from '../operation.js';

/** A path, and the methods or action keys of the operations that were removed from it. */
interface Removal {
  readonly path: string;
  readonly methods?: readonly Method[];
  readonly actions?: readonly string[];
}

/** Removed operations, which return 410 at every version, regardless of query and body. */
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

/** What the removed operations did and why they were removed. The keys are the beginnings of their paths. */
const formerPurposes = {
  '/os-agents': 'This operation managed builds of guest agents for a hypervisor that is no longer supported.',
  '/os-cells': 'This operation managed first-generation cells. Second-generation cells are not visible in the API.',
  '/os-certificates': 'This operation issued certificates for a networking service that was removed.',
  '/os-cloudpipe': 'This operation managed VPN gateways to the networks of a networking service that was removed.',
  '/os-fixed-ips': 'This operation reserved addresses in a networking service that was removed.',
  '/os-floating-ip-dns': 'This operation managed DNS names for addresses in a networking service that was removed.',
  '/os-floating-ips-bulk': 'This operation created address pools in a networking service that was removed.',
  '/os-fping': 'This operation pinged servers from the API host.',
  '/os-networks': 'This operation managed networks in a networking service that was removed.',
  '/os-security-group-default-rules':
    'This operation configured default rules for new security groups in a networking service that was removed.',
  '/os-tenant-networks': 'This operation managed networks in a networking service that was removed.',
  '/servers/{id}/action': 'This operation reset the network of a guest, for a hypervisor that is no longer supported.',
  '/servers/{server_id}/consoles': 'This operation opened consoles for a hypervisor that is no longer supported.',
} as const;

/** Query parameters are ignored at every version. */
const anyQuery = query({}, { extra: 'ignore' });
/** The key in the body selects the action. The rest of the body is ignored. */
const anyObjectSchema = z.looseObject({});

const ignoredParameters = {
  id: 'Any value, which is ignored.',
  domain_id: 'Any value, which is ignored.',
  server_id: 'Any value, which is ignored.',
};

function purposeOf(path: string): string {
  const [, purpose] = Object.entries(formerPurposes).find(([start]) => path.startsWith(start)) ?? [];
  if (purpose === undefined) throw new TypeError(`the purpose of ${path} is missing`);
  return purpose;
}

function removedOperation(method: Method, path: string, action?: string): Operation {
  return operation({
    name: nameOf({ method, path, action }),
    tag: 'removed',
    parameters: ignoredParameters,
    description: `Returns 410 at every version. ${purposeOf(path)}`,
    method,
    path,
    action,
    summary: `Removed: ${action ?? `${method} ${path}`}`,
    status: 410,
    ...(action && { errors: [400], when: { 400: 'The request body is not a JSON object.' }, body: anyObjectSchema }),
    query: anyQuery,
    run: () => {
      throw new GoneError('This resource is no longer available. No forwarding address is given.');
    },
  });
}

export const removedOperations: readonly Operation[] = removals.flatMap(({ path, methods = [], actions = [] }) => [
  ...methods.map((method) => removedOperation(method, path)),
  ...actions.map((action) => removedOperation('POST', path, action)),
]);
