import { freeDiskGb, type Hypervisor } from '@apistrata/compute-engine/api';
import { between, since, until } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { nested, type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { field, integer, nullableText, text } from './fields.js';
import { instanceNameOf } from './instance-name.js';

/** OpenAPI descriptions that several fields share. */
export const hypervisorTexts = {
  hypervisors: 'The hypervisors on this page.',
  hypervisorsLinks: 'Link to the next page. Absent if this page is not full.',
  hypervisor: 'A hypervisor.',
  serviceId: 'ID of the service: an integer until 2.52, a UUID since 2.53.',
  id: 'ID of the hypervisor: an integer until 2.52, a UUID since 2.53.',
  servers: 'Servers on the hypervisor. Without servers, the field is absent until 2.74, and an empty list since 2.75.',
  uptime: 'Uptime and load of the host as readable text. Null if unknown.',
  cpuInfo: 'Model, topology and features of the CPUs: a JSON string until 2.27, an object since 2.28.',
  vcpus: 'Number of CPUs.',
  vcpusUsed: 'Number of virtual CPUs that all servers use. Exceeds `vcpus` if CPUs are overcommitted.',
  memoryMb: 'Total memory, in MiB.',
  memoryMbUsed: 'Memory used by servers and by the host, in MiB.',
  freeRamMb: 'Free memory, in MiB. Negative if memory is overcommitted.',
  localGb: 'Total disk space, in GiB.',
  localGbUsed: 'Disk space allocated to servers, or used on the file system, whichever is larger, in GiB.',
  freeDiskGb:
    'Disk space not allocated to servers, or free on the file system, whichever is smaller, in GiB. Can be negative.',
  diskAvailableLeast:
    'Disk space that remains free if all disk images grow to their virtual size, in GiB. Null if unknown.',
  currentWorkload: 'Number of tasks in progress on the hypervisor, such as builds and migrations.',
  runningVms: 'Number of servers on the hypervisor, including stopped servers.',
} as const;

type Shape = ViewShape<Hypervisor, ComputeCall>;

/** Defines an integer field for capacity or usage. Since 2.88, the placement service reports these values instead. */
const capacityField = (description: string, get: (h: Hypervisor) => number) =>
  until('2.87', integer<Hypervisor, ComputeCall>(description, get));

const summaryFields: Shape = {
  id: [
    until(
      '2.52',
      integer(hypervisorTexts.id, ({ host }) => host.node.seq),
    ),
    since(
      '2.53',
      text(hypervisorTexts.id, ({ host }) => host.node.id),
    ),
  ],
  hypervisor_hostname: text('Hostname that the hypervisor reports.', ({ host }) => host.node.hypervisorHostname),
  state: field(
    'State of the hypervisor: `up` if its service sends heartbeats, otherwise `down`.',
    z.enum(['up', 'down']),
    ({ up }) => (up ? 'up' : 'down'),
  ),
  status: field(
    'Status of the hypervisor: `enabled` if the scheduler can select it, otherwise `disabled`.',
    z.enum(['enabled', 'disabled']),
    ({ host }) => (host.service.disabled ? 'disabled' : 'enabled'),
  ),
};

const serversSchema = z.array(
  z.strictObject({
    uuid: z.string().describe('UUID of a server.'),
    name: z.string().describe('Name of the instance on the hypervisor, not the display name of the server.'),
  }),
);

function serversOf({ servers: serversField }: Hypervisor): z.infer<typeof serversSchema> | undefined {
  return serversField?.map(({ id, seq }) => ({ uuid: id, name: instanceNameOf(seq) }));
}

const optionalServersField = field(hypervisorTexts.servers, serversSchema.optional(), (h: Hypervisor) =>
  h.servers?.length ? serversOf(h) : undefined,
);

/**
 * The field `servers`, which is present if the request contains `with_servers`. Until 2.74, it is absent if there are
 * no servers.
 */
const serversField: Shape = {
  servers: [
    between('2.53', '2.74', optionalServersField),
    since('2.75', field(hypervisorTexts.servers, serversSchema.optional(), serversOf)),
  ],
};

const serviceView = view<Hypervisor, ComputeCall>({
  id: [
    until(
      '2.52',
      integer(hypervisorTexts.serviceId, ({ host }) => host.service.seq),
    ),
    since(
      '2.53',
      text(hypervisorTexts.serviceId, ({ host }) => host.service.id),
    ),
  ],
  host: text('Name of the host that runs the service.', ({ host }) => host.name),
  disabled_reason: nullableText(
    'Reason why the service is disabled, or null.',
    ({ host }) => host.service.disabledReason,
  ),
});

const freeDiskOf = ({ host: { node }, usage }: Hypervisor) => freeDiskGb(node, usage.diskGb);
const usedDiskOf = (hypervisor: Hypervisor) => hypervisor.host.node.localGb - freeDiskOf(hypervisor);
const leastFreeDiskOf = (hypervisor: Hypervisor) => hypervisor.host.node.disk?.leastGb ?? freeDiskOf(hypervisor);

const cpuInfo = z.record(z.string(), z.unknown());

export const hypervisorSummary = view<Hypervisor, ComputeCall>({ ...summaryFields, ...serversField });

export const hypervisorSearchResult = view<Hypervisor, ComputeCall>(summaryFields);

export const hypervisorServers = view<Hypervisor, ComputeCall>({
  ...summaryFields,
  servers: optionalServersField,
});

export const hypervisorUptime = view<Hypervisor, ComputeCall>({
  ...summaryFields,
  uptime: nullableText(hypervisorTexts.uptime, (h) => h.uptime),
});

export const hypervisorDetail = view<Hypervisor, ComputeCall>({
  ...summaryFields,
  ...serversField,
  hypervisor_type: text('Type of the hypervisor, such as `QEMU`.', ({ host }) => host.node.hypervisorType),
  hypervisor_version: integer('Version of the hypervisor, as an integer.', ({ host }) => host.node.hypervisorVersion),
  host_ip: nullableText('IP address of the hypervisor.', ({ host }) => host.node.hostIp),
  service: described(
    'Compute service that controls the hypervisor.',
    nested(serviceView, (h) => h),
  ),
  uptime: since(
    '2.88',
    nullableText(hypervisorTexts.uptime, (h) => h.uptime),
  ),
  cpu_info: [
    until(
      '2.27',
      text(hypervisorTexts.cpuInfo, ({ host }) => JSON.stringify(host.node.cpuInfo)),
    ),
    between(
      '2.28',
      '2.87',
      field(hypervisorTexts.cpuInfo, cpuInfo, ({ host }) => ({ ...host.node.cpuInfo })),
    ),
  ],
  vcpus: capacityField(hypervisorTexts.vcpus, ({ host }) => host.node.vcpus),
  vcpus_used: capacityField(hypervisorTexts.vcpusUsed, ({ usage }) => usage.vcpus),
  memory_mb: capacityField(hypervisorTexts.memoryMb, ({ host }) => host.node.memoryMb),
  memory_mb_used: capacityField(hypervisorTexts.memoryMbUsed, ({ usage }) => usage.memoryMb),
  free_ram_mb: capacityField(hypervisorTexts.freeRamMb, ({ host, usage }) => host.node.memoryMb - usage.memoryMb),
  local_gb: capacityField(hypervisorTexts.localGb, ({ host }) => host.node.localGb),
  local_gb_used: capacityField(hypervisorTexts.localGbUsed, usedDiskOf),
  free_disk_gb: capacityField(hypervisorTexts.freeDiskGb, freeDiskOf),
  disk_available_least: capacityField(hypervisorTexts.diskAvailableLeast, leastFreeDiskOf),
  current_workload: capacityField(hypervisorTexts.currentWorkload, ({ workload }) => workload),
  running_vms: capacityField(hypervisorTexts.runningVms, ({ usage }) => usage.servers),
});

const sumField = (description: string, get: (h: Hypervisor) => number) =>
  integer<readonly Hypervisor[], ComputeCall>(description, (all) => all.reduce((total, one) => total + get(one), 0));

/** Summary statistics: each field is a sum over hypervisors. */
export const hypervisorStatistics = view<readonly Hypervisor[], ComputeCall>({
  count: sumField('Number of hypervisors.', () => 1),
  vcpus: sumField(hypervisorTexts.vcpus, ({ host }) => host.node.vcpus),
  vcpus_used: sumField(hypervisorTexts.vcpusUsed, ({ usage }) => usage.vcpus),
  memory_mb: sumField(hypervisorTexts.memoryMb, ({ host }) => host.node.memoryMb),
  memory_mb_used: sumField(hypervisorTexts.memoryMbUsed, ({ usage }) => usage.memoryMb),
  free_ram_mb: sumField(hypervisorTexts.freeRamMb, ({ host, usage }) => host.node.memoryMb - usage.memoryMb),
  local_gb: sumField(hypervisorTexts.localGb, ({ host }) => host.node.localGb),
  local_gb_used: sumField(hypervisorTexts.localGbUsed, usedDiskOf),
  free_disk_gb: sumField(hypervisorTexts.freeDiskGb, freeDiskOf),
  disk_available_least: sumField(hypervisorTexts.diskAvailableLeast, leastFreeDiskOf),
  current_workload: sumField(hypervisorTexts.currentWorkload, ({ workload }) => workload),
  running_vms: sumField(hypervisorTexts.runningVms, ({ usage }) => usage.servers),
});
