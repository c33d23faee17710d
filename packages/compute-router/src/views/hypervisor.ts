import type { Hypervisor } from '@apistrata/compute-engine/api';
import { between, since, until } from '@apistrata/microversion';
import { field, nested, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { instanceNameOf } from './instance-name.js';

type Shape = ViewShape<Hypervisor, ComputeCall>;

const text = (get: (h: Hypervisor) => string) => field<Hypervisor, ComputeCall, z.ZodString>(z.string(), get);
/** Capacity and load, which newer versions show elsewhere. */
const amount = (get: (h: Hypervisor) => number) =>
  until('2.87', field<Hypervisor, ComputeCall, z.ZodInt>(type.integer, get));

const brief: Shape = {
  id: [
    until(
      '2.52',
      field(z.int(), ({ host }) => host.node.seq),
    ),
    since(
      '2.53',
      text(({ host }) => host.node.id),
    ),
  ],
  hypervisor_hostname: text(({ host }) => host.node.hypervisorHostname),
  state: field(z.enum(['up', 'down']), ({ up }) => (up ? 'up' : 'down')),
  status: field(z.enum(['enabled', 'disabled']), ({ host }) => (host.service.disabled ? 'disabled' : 'enabled')),
};

const hosted = z.array(z.strictObject({ uuid: z.string(), name: z.string() }));

function serversOf({ servers }: Hypervisor): z.infer<typeof hosted> | undefined {
  return servers?.map(({ id, seq }) => ({ uuid: id, name: instanceNameOf(seq) }));
}

const nonEmptyServers = field<Hypervisor, ComputeCall, z.ZodOptional<typeof hosted>>(hosted.optional(), (h) =>
  h.servers?.length ? serversOf(h) : undefined,
);

/** The servers, if they were requested; until 2.74 only if there are any. */
const servers: Shape = {
  servers: [between('2.53', '2.74', nonEmptyServers), since('2.75', field(hosted.optional(), serversOf))],
};

const service = view<Hypervisor, ComputeCall>({
  id: [
    until(
      '2.52',
      field(z.int(), ({ host }) => host.service.seq),
    ),
    since(
      '2.53',
      text(({ host }) => host.service.id),
    ),
  ],
  host: text(({ host }) => host.name),
  disabled_reason: field(type.nullableText, ({ host }) => host.service.disabledReason),
});

const cpuInfo = z.record(z.string(), z.unknown());

export const hypervisorSummary = view<Hypervisor, ComputeCall>({ ...brief, ...servers });

export const hypervisorFound = view<Hypervisor, ComputeCall>(brief);

export const hypervisorServers = view<Hypervisor, ComputeCall>({ ...brief, servers: nonEmptyServers });

export const hypervisorUptime = view<Hypervisor, ComputeCall>({
  ...brief,
  uptime: field(type.nullableText, (h) => h.uptime),
});

export const hypervisorDetail = view<Hypervisor, ComputeCall>({
  ...brief,
  ...servers,
  hypervisor_type: text(({ host }) => host.node.hypervisorType),
  hypervisor_version: field(z.int(), ({ host }) => host.node.hypervisorVersion),
  host_ip: field(type.nullableText, ({ host }) => host.node.hostIp),
  service: nested(service, (h) => h),
  uptime: since(
    '2.88',
    field(type.nullableText, (h) => h.uptime),
  ),
  cpu_info: [
    until(
      '2.27',
      text(({ host }) => JSON.stringify(host.node.cpuInfo)),
    ),
    between(
      '2.28',
      '2.87',
      field(cpuInfo, ({ host }) => ({ ...host.node.cpuInfo })),
    ),
  ],
  vcpus: amount(({ host }) => host.node.vcpus),
  vcpus_used: amount(({ usage }) => usage.vcpus),
  memory_mb: amount(({ host }) => host.node.memoryMb),
  memory_mb_used: amount(({ usage }) => usage.memoryMb),
  free_ram_mb: amount(({ host, usage }) => host.node.memoryMb - usage.memoryMb),
  local_gb: amount(({ host }) => host.node.localGb),
  local_gb_used: amount(({ usage }) => usage.diskGb),
  free_disk_gb: amount(({ host, usage }) => host.node.localGb - usage.diskGb),
  disk_available_least: amount(({ host, usage }) => host.node.localGb - usage.diskGb),
  current_workload: amount(({ workload }) => workload),
  running_vms: amount(({ usage }) => usage.servers),
});

const sum = (get: (h: Hypervisor) => number) =>
  field<readonly Hypervisor[], ComputeCall, z.ZodInt>(type.integer, (all) =>
    all.reduce((total, one) => total + get(one), 0),
  );

/** The sum of all hypervisors, enabled or not. */
export const hypervisorStatistics = view<readonly Hypervisor[], ComputeCall>({
  count: sum(() => 1),
  vcpus: sum(({ host }) => host.node.vcpus),
  vcpus_used: sum(({ usage }) => usage.vcpus),
  memory_mb: sum(({ host }) => host.node.memoryMb),
  memory_mb_used: sum(({ usage }) => usage.memoryMb),
  free_ram_mb: sum(({ host, usage }) => host.node.memoryMb - usage.memoryMb),
  local_gb: sum(({ host }) => host.node.localGb),
  local_gb_used: sum(({ usage }) => usage.diskGb),
  free_disk_gb: sum(({ host, usage }) => host.node.localGb - usage.diskGb),
  disk_available_least: sum(({ host, usage }) => host.node.localGb - usage.diskGb),
  current_workload: sum(({ workload }) => workload),
  running_vms: sum(({ usage }) => usage.servers),
});
