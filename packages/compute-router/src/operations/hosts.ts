import type { HostUsageRow, ServiceState } from '@apistrata/compute-engine/api';
import type { HostPowerAction } from '@apistrata/compute-engine/drivers';
import { until } from '@apistrata/microversion';
import { described, one, query } from '@apistrata/microversion/schema';
import { type Operation, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { type OperationTexts, operation } from '../operation.js';
import type { RuleName } from '../policy/index.js';
import { resource } from '../reference/resource.js';
import { text } from '../views/fields.js';

const hostDocs = resource({
  tag: 'hosts',
  parameters: { id: 'Name of the host.' },
  when: { 501: 'The driver of the host does not support the operation.' },
});

/** OpenAPI descriptions that several fields share. */
export const hostTexts = {
  hostName: 'Name of the host.',
  host: 'Name of the host. In the response for a single host, the list of capacity and usage records.',
} as const;

const window = until('2.42', true as const);
const anyQuery = query({}, { extra: 'ignore' });

const listedHost = view<ServiceState, ComputeCall>({
  host_name: text(hostTexts.hostName, ({ service }) => service.host),
  service: text('Service on the host, such as `compute`, `scheduler` or `conductor`.', ({ service }) =>
    service.binary.replace(/^nova-/, ''),
  ),
  zone: text('Availability zone of the host, or `internal` for hosts that do not run servers.', ({ zone }) => zone),
});

const hostRecord = z.strictObject({
  host: z.string().describe(hostTexts.hostName),
  project: z.string().describe('Scope of the record: `(total)`, `(used_now)`, `(used_max)`, or the ID of a project.'),
  cpu: z.int().describe('Number of CPUs.'),
  memory_mb: z.int().describe('Memory, in MiB.'),
  disk_gb: z.int().describe('Disk, in GiB.'),
});

function toHostRecord(host: string, { project, cpu, memoryMb, diskGb }: HostUsageRow): z.infer<typeof hostRecord> {
  return { host, project, cpu, memory_mb: memoryMb, disk_gb: diskGb };
}

const toggleSchema = z
  .enum(['enable', 'disable', 'Enable', 'Disable', 'ENABLE', 'DISABLE'])
  .transform((text) => text.toLowerCase() === 'enable');

interface HostPowerOperation extends Pick<OperationTexts, 'name' | 'description'>, Pick<Operation, 'summary'> {
  readonly action: HostPowerAction;
  readonly policy: RuleName;
}

const powerOperations = [
  {
    action: 'reboot',
    name: 'rebootHost',
    policy: 'os_compute_api:os-hosts:reboot',
    summary: 'Reboot a host',
    description: 'Reboots a host, if the driver supports it. Although the method is GET, the request has side effects.',
  },
  {
    action: 'shutdown',
    name: 'shutdownHost',
    policy: 'os_compute_api:os-hosts:shutdown',
    summary: 'Shut down a host',
    description:
      'Shuts down a host, if the driver supports it. Although the method is GET, the request has side effects.',
  },
  {
    action: 'startup',
    name: 'startHost',
    policy: 'os_compute_api:os-hosts:start',
    summary: 'Start a host',
    description: 'Starts a host, if the driver supports it. Although the method is GET, the request has side effects.',
  },
] as const satisfies readonly HostPowerOperation[];

export const hostOperations = [
  operation({
    ...hostDocs,
    name: 'listHosts',
    method: 'GET',
    path: '/os-hosts',
    window,
    summary: 'List hosts',
    description:
      'Lists hosts with their services. This operation was replaced by the service list and the hypervisor list.',
    policy: 'os_compute_api:os-hosts:list',
    status: 200,
    query: query({ zone: described('Filters hosts by availability zone.', one(z.string())) }, { extra: 'ignore' }),
    reply: { hosts: described('The list of hosts, with one item for each service on each host.', [listedHost]) },
    run: async ({ engine, query: { zone } }) => ({ hosts: await engine.hosts.list({ zone: zone || undefined }) }),
  }),
  operation({
    ...hostDocs,
    name: 'showHost',
    method: 'GET',
    path: '/os-hosts/{id}',
    window,
    summary: 'Show the capacity and usage of a host',
    description: 'Shows the capacity of a host, its total usage, and the usage of each project.',
    policy: 'os_compute_api:os-hosts:show',
    status: 200,
    errors: [404],
    query: anyQuery,
    reply: {
      host: described(
        hostTexts.host,
        z.array(z.strictObject({ resource: hostRecord.describe('A capacity or usage record.') })),
      ),
    },
    run: async ({ engine, params: { id } }) => ({
      host: (await engine.hosts.shares(id)).map((share) => ({ resource: toHostRecord(id, share) })),
    }),
  }),
  operation({
    ...hostDocs,
    name: 'updateHost',
    method: 'PUT',
    path: '/os-hosts/{id}',
    window,
    summary: 'Update the status or maintenance mode of a host',
    description: 'Enables or disables a host, or starts or ends its maintenance mode, if the driver supports it.',
    policy: 'os_compute_api:os-hosts:update',
    status: 200,
    errors: [400, 404, 501],
    body: z
      .strictObject({
        status: toggleSchema
          .optional()
          .describe('`enable` or `disable`. The scheduler does not select disabled hosts.'),
        maintenance_mode: toggleSchema.optional().describe('Maintenance mode: `enable` starts it, `disable` ends it.'),
      })
      .refine((body) => Object.keys(body).length > 0, {
        message: 'At least one of status and maintenance_mode is required',
      }),
    reply: z.strictObject({
      host: z.string().describe(hostTexts.host),
      status: z.enum(['enabled', 'disabled']).optional().describe('Status of the host: `enabled` or `disabled`.'),
      maintenance_mode: z
        .enum(['on_maintenance', 'off_maintenance'])
        .optional()
        .describe('Maintenance mode of the host: `on_maintenance` or `off_maintenance`.'),
    }),
    run: async ({ engine, params: { id: host }, body: { status, maintenance_mode: maintenance } }) => {
      if (maintenance !== undefined) await engine.hosts.setMaintenance(host, maintenance);
      if (status !== undefined) await engine.hosts.setEnabled(host, status);
      return {
        host,
        ...(status !== undefined && { status: status ? ('enabled' as const) : ('disabled' as const) }),
        ...(maintenance !== undefined && {
          maintenance_mode: maintenance ? ('on_maintenance' as const) : ('off_maintenance' as const),
        }),
      };
    },
  }),
  ...powerOperations.map(({ action, ...definition }) =>
    operation({
      ...hostDocs,
      ...definition,
      method: 'GET',
      path: `/os-hosts/{id}/${action}`,
      window,
      status: 200,
      errors: [400, 404, 501],
      query: anyQuery,
      reply: z.strictObject({
        host: z.string().describe(hostTexts.host),
        power_action: z.string().describe('Power action that was executed: `reboot`, `shutdown` or `startup`.'),
      }),
      run: async ({ engine, params: { id: host } }) => ({ host, power_action: await engine.hosts.power(host, action) }),
    }),
  ),
];
