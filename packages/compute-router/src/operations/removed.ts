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

/** Operations that answer 410 at every version, for any query and body. */
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

/** What each was, by the beginning of its path, and why it went. */
const purposes = {
  '/os-agents': 'It kept a list of agents inside guests, for a hypervisor that is no longer supported.',
  '/os-cells': 'It managed cells of the first kind. Those of the second are no business of the API.',
  '/os-certificates': 'It gave out certificates for a networking service that is no more.',
  '/os-cloudpipe': 'It ran gateways into networks of a networking service that is no more.',
  '/os-fixed-ips': 'It kept addresses free in a networking service that is no more.',
  '/os-floating-ip-dns': 'It kept names for addresses of a networking service that is no more.',
  '/os-floating-ips-bulk': 'It filled pools of a networking service that is no more.',
  '/os-fping': 'It pinged servers from the host of the API.',
  '/os-networks': 'It managed networks of a networking service that is no more.',
  '/os-security-group-default-rules': 'It set rules for new security groups of a networking service that is no more.',
  '/os-tenant-networks': 'It managed networks of a networking service that is no more.',
  '/servers/{id}/action': 'It set the network of a guest anew, for a hypervisor that is no longer supported.',
  '/servers/{server_id}/consoles': 'It opened consoles of a hypervisor that is no longer supported.',
} as const;

/** Parameters are read nowhere, so none is refused at any version. */
const anyQuery = query({}, { extra: 'ignore' });
/** Only the body's key says which action is meant; of anything else the body is not looked at. */
const anyObject = z.looseObject({});

const parameters = { id: 'Anything: nothing has an id here any more', domain_id: 'Anything', server_id: 'Anything' };

function purposeOf(path: string): string {
  const [, purpose] = Object.entries(purposes).find(([start]) => path.startsWith(start)) ?? [];
  if (purpose === undefined) throw new TypeError(`nothing says what ${path} was`);
  return purpose;
}

function gone(method: Method, path: string, action?: string): Operation {
  return operation({
    tag: 'removed',
    parameters,
    description: `Answers 410 at every version. ${purposeOf(path)}`,
    method,
    path,
    action,
    summary: `Removed: ${action ?? `${method} ${path}`}`,
    status: 410,
    ...(action && { errors: [400], when: { 400: 'The body is not a JSON object' }, body: anyObject }),
    query: anyQuery,
    run: () => {
      throw new Gone('This resource is no longer available. No forwarding address is given.');
    },
  });
}

export const removedOperations: readonly Operation[] = removals.flatMap(({ path, methods = [], actions = [] }) => [
  ...methods.map((method) => gone(method, path)),
  ...actions.map((action) => gone('POST', path, action)),
]);
