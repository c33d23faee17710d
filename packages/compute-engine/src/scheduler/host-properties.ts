import type { CapabilityValue, CpuInfo } from '../model/index.js';
import { freeDiskGb } from './disk-space.js';
import type { HostUsage } from './host-usage.js';
import type { Host } from './infrastructure.js';

/** Values that are nested under a name, as in `capabilities:cpu_info:vendor`. */
export interface PropertyGroup {
  readonly [name: string]: PropertyValue;
}

/** The value of a host property that queries and extra specs compare. */
export type PropertyValue = CapabilityValue | PropertyGroup;

/**
 * Returns a property of a host. Memory is in MiB; disk space is in MiB if the name of the property contains `mb`,
 * otherwise in GiB.
 */
type PropertyReader = (host: Host, usage: HostUsage | undefined) => PropertyValue;

function cpuProperties({ topology, ...cpu }: CpuInfo): PropertyGroup {
  const { cells, ...counts } = topology;
  return { ...cpu, topology: { ...counts, ...(cells !== undefined && { cells }) } };
}

/** The properties of hosts to which the hint `query` and extra specs `capabilities:NAME` refer. */
const properties: ReadonlyMap<string, PropertyReader> = new Map(
  Object.entries<PropertyReader>({
    host: ({ name }) => name,
    nodename: ({ node }) => node.hypervisorHostname,
    uuid: ({ node }) => node.id,
    host_ip: ({ node }) => node.hostIp,
    hypervisor_hostname: ({ node }) => node.hypervisorHostname,
    hypervisor_type: ({ node }) => node.hypervisorType,
    hypervisor_version: ({ node }) => node.hypervisorVersion,
    cpu_info: ({ node }) => cpuProperties(node.cpuInfo),
    vcpus_total: ({ node }) => node.vcpus,
    vcpus_used: (_host, usage) => usage?.vcpus ?? 0,
    total_usable_ram_mb: ({ node }) => node.memoryMb,
    free_ram_mb: ({ node }, usage) => node.memoryMb - (usage?.memoryMb ?? 0),
    total_usable_disk_gb: ({ node }) => node.localGb,
    disk_mb_used: ({ node }, usage) => (node.localGb - freeDiskGb(node, usage?.diskGb ?? 0)) * 1024,
    free_disk_mb: ({ node }, usage) => freeDiskGb(node, usage?.diskGb ?? 0) * 1024,
    num_instances: (_host, usage) => usage?.servers ?? 0,
    cpu_allocation_ratio: ({ node }) => node.cpuAllocationRatio,
    ram_allocation_ratio: ({ node }) => node.ramAllocationRatio,
    disk_allocation_ratio: ({ node }) => node.diskAllocationRatio,
  }),
);

/** Returns a property of a host; undefined if hosts have no property with this name. */
export function propertyOf(host: Host, usage: HostUsage | undefined, name: string): PropertyValue | undefined {
  const property = properties.get(name);
  if (property) return property(host, usage);
  return Object.hasOwn(host.node.capabilities, name) ? host.node.capabilities[name] : undefined;
}
