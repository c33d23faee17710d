import { Rejection } from '@apistrata/compute-engine';
import type { FloatingIp } from '@apistrata/compute-engine/catalogs';
import { derive, described, type Infer, object } from '@apistrata/microversion/schema';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import * as type from '../../schemas/reply-types.js';
import { storableText } from '../../schemas/storable-text.js';
import { nullableText, text } from '../../views/fields.js';
import { networkProxyDocs } from './proxy-docs.js';
import { withRejectionCodes } from './rejected-as.js';

/** OpenAPI descriptions that several fields share. */
const floatingIpTexts = {
  ip: 'The floating IP address.',
  pool: 'Name or ID of the pool.',
  fixedIp: 'Associated fixed IP address, or null.',
  instanceId: 'UUID of the associated server, or null.',
  floatingIps: 'The list of floating IP addresses.',
  floatingIp: 'A floating IP address.',
} as const;

const floatingIp = view<FloatingIp, ComputeCall>({
  id: text('UUID of the floating IP address.', ({ id }) => id),
  ip: text(floatingIpTexts.ip, ({ address }) => address),
  pool: text(floatingIpTexts.pool, ({ pool }) => pool),
  fixed_ip: nullableText(floatingIpTexts.fixedIp, ({ fixedAddress }) => fixedAddress),
  instance_id: nullableText(floatingIpTexts.instanceId, ({ deviceId }) => deviceId),
});

const listProjectIps = ({ engine, caller }: ComputeCall) =>
  engine.catalogs.networks.listFloatingIps(caller, { projectId: caller.projectId });

/** Loads the floating IP address that the path identifies. Policies are checked against its project. */
const findFloatingIp = ({ engine, caller, params }: ComputeCall & { readonly params: { readonly id: string } }) =>
  engine.catalogs.networks.getFloatingIp(caller, params.id);

const bulkEntrySchema = object({
  address: described(floatingIpTexts.ip, z.string()),
  fixed_ip: described(floatingIpTexts.fixedIp, type.nullableText),
  instance_uuid: described(floatingIpTexts.instanceId, type.nullableText),
  interface: described('Always null. Only a former networking service used this field.', z.null()),
  pool: described(floatingIpTexts.pool, z.string()),
  project_id: described('ID of the project that owns the floating IP address.', z.string()),
});

function bulkEntryOf({ address, fixedAddress, deviceId, pool, projectId }: FloatingIp): Infer<typeof bulkEntrySchema> {
  return { address, fixed_ip: fixedAddress, instance_uuid: deviceId, interface: null, pool, project_id: projectId };
}

/** Returns all floating IP addresses to administrators, and only the project's addresses to other callers. */
const listVisibleIps = ({ engine, caller, context }: ComputeCall) =>
  engine.catalogs.networks.listFloatingIps(caller, context.isAdmin ? {} : { projectId: caller.projectId });

/**
 * Returns the host of the server that uses a floating IP address. Returns null if the address is not in use, or the
 * caller is not an administrator.
 */
async function hostOf({ engine, context }: ComputeCall, { deviceId }: FloatingIp): Promise<string | null> {
  if (deviceId === null || !context.isAdmin) return null;
  try {
    return (await engine.servers.get(context, deviceId)).host;
  } catch (error) {
    // The device that uses the address is not necessarily a server.
    if (error instanceof Rejection && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

export const floatingIpProxies = [
  operation({
    ...networkProxyDocs,
    name: 'listFloatingIpPools',
    method: 'GET',
    path: '/os-floating-ip-pools',
    summary: 'List floating IP pools',
    description: 'Lists the pools of floating IP addresses.',
    policy: 'os_compute_api:os-floating-ip-pools',
    status: 200,
    reply: {
      floating_ip_pools: described(
        'The list of pools.',
        derive(object({ name: described('Name of the pool.', z.string()) }), (item) => item.array()),
      ),
    },
    run: async ({ engine, caller }) => {
      const pools = await engine.catalogs.networks.listFloatingIpPools(caller);
      return { floating_ip_pools: pools.map(({ name }) => ({ name })) };
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'listFloatingIps',
    method: 'GET',
    path: '/os-floating-ips',
    summary: 'List floating IP addresses',
    description: 'Lists the floating IP addresses of the project.',
    policy: 'os_compute_api:os-floating-ips:list',
    status: 200,
    reply: { floating_ips: described(floatingIpTexts.floatingIps, [floatingIp]) },
    run: async (call) => ({ floating_ips: await listProjectIps(call) }),
  }),
  operation({
    ...networkProxyDocs,
    name: 'createFloatingIp',
    method: 'POST',
    path: '/os-floating-ips',
    summary: 'Allocate a floating IP address',
    description: 'Allocates a floating IP address from a pool.',
    policy: 'os_compute_api:os-floating-ips:create',
    status: 200,
    errors: [400, 403, 404],
    body: z.looseObject({ pool: storableText.nullish().describe(floatingIpTexts.pool) }).nullish(),
    reply: { floating_ip: described(floatingIpTexts.floatingIp, floatingIp) },
    run: async ({ engine, caller, body }) => ({
      floating_ip: await withRejectionCodes(
        { NO_FREE_ADDRESS: 'NOT_FOUND' },
        engine.catalogs.networks.allocateFloatingIp(caller, body?.pool ?? undefined),
      ),
    }),
  }),
  operation({
    ...networkProxyDocs,
    name: 'showFloatingIp',
    method: 'GET',
    path: '/os-floating-ips/{id}',
    summary: 'Show a floating IP address',
    description: 'Shows a floating IP address.',
    policy: 'os_compute_api:os-floating-ips:show',
    status: 200,
    errors: [404],
    target: findFloatingIp,
    reply: { floating_ip: described(floatingIpTexts.floatingIp, floatingIp) },
    run: ({ target }) => ({ floating_ip: target }),
  }),
  operation({
    ...networkProxyDocs,
    name: 'deleteFloatingIp',
    method: 'DELETE',
    path: '/os-floating-ips/{id}',
    summary: 'Release a floating IP address',
    description: 'Releases a floating IP address.',
    policy: 'os_compute_api:os-floating-ips:delete',
    status: 202,
    errors: [404],
    target: findFloatingIp,
    run: async ({ engine, caller, target }) => {
      await engine.catalogs.networks.releaseFloatingIp(caller, target.id);
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'listFloatingIpsBulk',
    method: 'GET',
    path: '/os-floating-ips-bulk',
    summary: 'List floating IP addresses with their servers',
    description:
      'Lists floating IP addresses with their servers. Administrators see all addresses; other callers see the addresses of the project.',
    policy: 'os_compute_api:os-floating-ips:list',
    status: 200,
    reply: { floating_ip_info: described(floatingIpTexts.floatingIps, [bulkEntrySchema]) },
    run: async (call) => ({ floating_ip_info: (await listVisibleIps(call)).map(bulkEntryOf) }),
  }),
  operation({
    ...networkProxyDocs,
    name: 'listFloatingIpsOfHost',
    method: 'GET',
    path: '/os-floating-ips-bulk/{id}',
    summary: 'List the floating IP addresses of the servers on a host',
    description:
      'Lists the floating IP addresses of the servers on a host. Administrators only; other callers receive 404.',
    policy: 'os_compute_api:os-floating-ips:list',
    status: 200,
    errors: [404],
    reply: { floating_ip_info: described(floatingIpTexts.floatingIps, [bulkEntrySchema]) },
    run: async (call) => {
      const entries = [];
      for (const ip of await listVisibleIps(call))
        if ((await hostOf(call, ip)) === call.params.id) entries.push(bulkEntryOf(ip));
      if (entries.length === 0)
        throw new Rejection('NOT_FOUND', `Host ${call.params.id} has no floating IP addresses.`);
      return { floating_ip_info: entries };
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'listFloatingIpDomains',
    method: 'GET',
    path: '/os-floating-ip-dns',
    summary: 'List DNS domains of floating IP addresses',
    description: 'Lists the DNS domains of floating IP addresses. The list is always empty.',
    policy: 'os_compute_api:os-floating-ips:list',
    status: 200,
    reply: { domain_entries: described('The list of DNS domains, which is always empty.', z.array(z.never())) },
    run: () => ({ domain_entries: [] }),
  }),
  operation({
    ...networkProxyDocs,
    name: 'showFloatingIpDnsEntry',
    method: 'GET',
    path: '/os-floating-ip-dns/{domain_id}/entries/{id}',
    summary: 'Show a DNS entry of a floating IP address',
    description: 'Shows a DNS entry of a floating IP address. Always returns 404.',
    policy: 'os_compute_api:os-floating-ips:list',
    status: 200,
    errors: [404],
    reply: { dns_entry: described('The DNS entry.', z.never()) },
    run: ({ params }) => {
      throw new Rejection('NOT_FOUND', `There is no entry ${params.id} in domain ${params.domain_id}.`);
    },
  }),
];
