import type { Server } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { described, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { serverDiagnosticsDocs } from './diagnostics.js';
import { parentServer } from './target.js';

const node = object({
  memory_mb: described('Memory of the node, in MiB.', z.int()),
  siblings: described('For each core, the virtual CPUs that are threads of the core.', z.array(z.array(z.int()))),
  vcpu_set: described('Virtual CPUs of the node.', z.array(z.int())),
  host_node: described('NUMA node on the host. Administrators only.', z.int().optional()),
  cpu_pinning: described(
    'Host CPU for each virtual CPU. Administrators only.',
    z.record(z.string(), z.int()).optional(),
  ),
});

type Node = Infer<typeof node>;

/** Memory page sizes in KiB, by name. With the name `any`, the host selects the size. */
const NAMED_PAGE_SIZES_KIB: Readonly<Record<string, number>> = { small: 4, large: 2048 };
const KIB_PER_UNIT = { '': 1, KB: 1, MB: 1024, GB: 1024 * 1024 } as const;

function pageSizeOf(requested: string | undefined): number | null {
  if (requested === undefined) return null;
  const [, digits, unit] = /^([0-9]+)([KMG]B)?$/i.exec(requested) ?? [];
  if (digits === undefined) return NAMED_PAGE_SIZES_KIB[requested] ?? null;
  return Number(digits) * KIB_PER_UNIT[(unit ?? '').toUpperCase() as keyof typeof KIB_PER_UNIT];
}

/**
 * Returns the NUMA nodes that the flavor's extra specs request, with processors and memory divided evenly. Returns an
 * empty list if the flavor does not request NUMA nodes.
 */
function nodesOf({ flavor }: Server, canSeeHost: boolean): Node[] {
  const { vcpus, memoryMb, extraSpecs } = flavor;
  const isDedicated = extraSpecs['hw:cpu_policy'] === 'dedicated';
  const requested = Number(extraSpecs['hw:numa_nodes'] ?? (isDedicated || extraSpecs['hw:mem_page_size'] ? 1 : 0));
  const nodeCount = Number.isInteger(requested) ? Math.min(requested, vcpus) : 0;
  return Array.from({ length: Math.max(0, nodeCount) }, (_, index) => {
    const firstCpu = Math.floor((vcpus * index) / nodeCount);
    const endCpu = Math.floor((vcpus * (index + 1)) / nodeCount);
    const vcpuSet = Array.from({ length: endCpu - firstCpu }, (_unused, offset) => firstCpu + offset);
    return {
      memory_mb: Math.floor((memoryMb * (index + 1)) / nodeCount) - Math.floor((memoryMb * index) / nodeCount),
      siblings: [],
      vcpu_set: vcpuSet,
      ...(canSeeHost && { host_node: index }),
      ...(canSeeHost && isDedicated && { cpu_pinning: Object.fromEntries(vcpuSet.map((cpu) => [String(cpu), cpu])) }),
    };
  });
}

export const serverTopology = operation({
  ...serverDiagnosticsDocs,
  name: 'showServerTopology',
  method: 'GET',
  path: '/servers/{server_id}/topology',
  window: since('2.78', true),
  summary: 'Show the NUMA topology of a server',
  description: 'Shows the NUMA topology of a server. Only administrators see the nodes and CPUs on the host.',
  policy: 'compute:server:topology:index',
  status: 200,
  errors: [404],
  target: parentServer,
  reply: {
    nodes: described('NUMA nodes of the server.', [node]),
    pagesize_kb: described(
      'Memory page size in KiB, or null if the flavor does not request a page size.',
      z.int().nullable(),
    ),
  },
  run: (call) => ({
    nodes: nodesOf(call.target, call.can('compute:server:topology:host:index', call.target)),
    pagesize_kb: pageSizeOf(call.target.flavor.extraSpecs['hw:mem_page_size']),
  }),
});
