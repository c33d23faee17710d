import type { Caller } from '@apistrata/compute-engine';
import { CatalogError, ipOf, type SubnetRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { del, get, noContent, type Route } from '../service/route.js';
import { missingResource, networkError } from './network-errors.js';
import { notAllowedError } from './network-style.js';

/** Returns the number of addresses in a subnet's allocation pools. */
const addressCount = ({ allocationPools }: SubnetRecord) =>
  allocationPools.reduce((sum, { start, end }) => sum + (ipOf(end).value - ipOf(start).value + 1n), 0n);

/** Returns an exact JSON number of any size, because IPv6 address counts exceed JavaScript's safe integers. */
const toExactNumber = (value: bigint): unknown =>
  (JSON as typeof JSON & { rawJSON(text: string): object }).rawJSON(String(value));

/** Returns the total and used numbers of addresses per network. */
async function listAvailabilities(call: Call) {
  // As in Neutron, callers who are not administrators receive an empty list.
  if (!call.isAdmin) return [];
  const { networks } = call.cloud.catalogs;
  const subnets = await networks.listSubnets(call.caller);
  const usedAddresses = [
    ...(await networks.listPorts(call.caller)).flatMap(({ fixedIps }) => fixedIps),
    ...(await networks.listFloatingIps(call.caller)),
  ];
  return (await networks.listNetworks(call.caller)).map((network) => {
    const networkSubnets = subnets.filter(({ networkId }) => networkId === network.id);
    const subnetAvailabilities = networkSubnets.map((subnet) => ({
      subnet_id: subnet.id,
      subnet_name: subnet.name,
      cidr: subnet.cidr,
      ip_version: subnet.ipVersion,
      total_ips: toExactNumber(addressCount(subnet)),
      used_ips: usedAddresses.filter(({ subnetId }) => subnetId === subnet.id).length,
    }));
    return {
      network_id: network.id,
      network_name: network.name,
      tenant_id: network.projectId,
      project_id: network.projectId,
      total_ips: toExactNumber(networkSubnets.reduce((sum, subnet) => sum + addressCount(subnet), 0n)),
      used_ips: subnetAvailabilities.reduce((sum, { used_ips }) => sum + used_ips, 0),
      subnet_ip_availability: subnetAvailabilities,
    };
  });
}

/**
 * Returns the caller with the project from the path. In the path, `None` stands for the caller's own project. As in
 * Neutron, readers may create the topology, but not delete it.
 */
function projectCaller(call: Call): Caller {
  const { caller, isAdmin } = call;
  const requested = call.param('project');
  const projectId = ['None', 'null'].includes(requested) ? caller.projectId : requested;
  if (!isAdmin && projectId !== caller.projectId) throw networkError('NotAuthorized', 'Not authorized.');
  return { ...caller, projectId };
}

const FILTER_NAMES = ['network_id', 'network_name', 'tenant_id', 'project_id'] as const;

/** Returns the routes for IP address availability and auto-allocated topologies. */
export function availabilityRoutes(): readonly Route[] {
  return [
    get('/v2.0/network-ip-availabilities', async (call) => {
      const allAvailabilities = await listAvailabilities(call);
      const matchingAvailabilities = allAvailabilities.filter((availability) =>
        FILTER_NAMES.every((name) => !call.query.has(name) || availability[name] === call.query.get(name)),
      );
      return { network_ip_availabilities: matchingAvailabilities };
    }),
    get('/v2.0/network-ip-availabilities/:id', async (call) => {
      const availability = (await listAvailabilities(call)).find(({ network_id }) => network_id === call.param('id'));
      if (!availability) throw missingResource('Network', call.param('id'));
      return { network_ip_availability: availability };
    }),
    del('/v2.0/auto-allocated-topology/:project', async (call) => {
      const { networks } = call.cloud.catalogs;
      const caller = projectCaller(call);
      if (!call.hasRole('member')) throw notAllowedError('delete_auto_allocated_topology');
      // With `dryRun`, no topology is created. A missing topology is not an error.
      const network = await networks.autoNetwork(caller, { dryRun: true }).catch((error: unknown) => {
        if (error instanceof CatalogError && error.code === 'NO_AUTO_NETWORK') return null;
        throw error;
      });
      if (network) await networks.deleteNetwork(call.caller, network.id);
      return noContent();
    }),
    get('/v2.0/auto-allocated-topology/:project', async (call) => {
      const caller = projectCaller(call);
      const project = caller.projectId;
      const dryRun = call.query.getAll('fields').includes('dry-run');
      const network = await call.cloud.catalogs.networks.autoNetwork(caller, { dryRun });
      return {
        auto_allocated_topology: {
          id: dryRun ? 'dry-run=pass' : network?.id,
          tenant_id: project,
          project_id: project,
        },
      };
    }),
  ];
}
