import { ipOf, type SubnetRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { get, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';

/** Returns the number of addresses in the allocation pools of a subnet. */
const sizeOf = ({ allocationPools }: SubnetRecord) =>
  allocationPools.reduce((sum, { start, end }) => sum + (ipOf(end).value - ipOf(start).value + 1n), 0n);

/** Returns a JSON number of any size: the addresses of an IPv6 subnet exceed the exact numbers of JavaScript. */
const exactNumber = (value: bigint): unknown =>
  (JSON as typeof JSON & { rawJSON(text: string): object }).rawJSON(String(value));

/** Returns the total and used number of addresses of each network. */
async function availabilities(call: Call) {
  call.requireAdmin();
  const { networks } = call.cloud.catalogs;
  const subnets = await networks.listSubnets(call.caller);
  const usedAddresses = [
    ...(await networks.listPorts(call.caller)).flatMap(({ fixedIps }) => fixedIps),
    ...(await networks.listFloatingIps(call.caller)),
  ];
  return (await networks.listNetworks(call.caller)).map((network) => {
    const ownSubnets = subnets.filter(({ networkId }) => networkId === network.id);
    const networkSubnets = ownSubnets.map((subnet) => ({
      subnet_id: subnet.id,
      subnet_name: subnet.name,
      cidr: subnet.cidr,
      ip_version: subnet.ipVersion,
      total_ips: exactNumber(sizeOf(subnet)),
      used_ips: usedAddresses.filter(({ subnetId }) => subnetId === subnet.id).length,
    }));
    return {
      network_id: network.id,
      network_name: network.name,
      tenant_id: network.projectId,
      project_id: network.projectId,
      total_ips: exactNumber(ownSubnets.reduce((sum, subnet) => sum + sizeOf(subnet), 0n)),
      used_ips: networkSubnets.reduce((sum, { used_ips }) => sum + used_ips, 0),
      subnet_ip_availability: networkSubnets,
    };
  });
}

const FILTERS = ['network_id', 'network_name', 'tenant_id', 'project_id'] as const;

/** Availability of addresses, and the auto-allocated topology of a project. */
export function availabilityRoutes(): readonly Route[] {
  return [
    get('/v2.0/network-ip-availabilities', async (call) => {
      const all = await availabilities(call);
      const matching = all.filter((one) =>
        FILTERS.every((name) => !call.query.has(name) || one[name] === call.query.get(name)),
      );
      return { network_ip_availabilities: matching };
    }),
    get('/v2.0/network-ip-availabilities/:id', async (call) => {
      const one = (await availabilities(call)).find(({ network_id }) => network_id === call.param('id'));
      if (!one) throw notFound(`Network ${call.param('id')} could not be found.`, 'NetworkNotFound');
      return { network_ip_availability: one };
    }),
    get('/v2.0/auto-allocated-topology/:project', async (call) => {
      const project = call.param('project') === 'null' ? call.caller.projectId : call.param('project');
      if (project !== call.caller.projectId) call.requireAdmin();
      const caller = { ...call.caller, projectId: project };
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
