import type { HostShare, ServiceState } from '@apistrata/compute-engine/api';
import type { HostPowerAction } from '@apistrata/compute-engine/drivers';
import { until } from '@apistrata/microversion';
import { field, type Operation, view } from '@apistrata/microversion/router';
import { one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { type OperationTexts, operation } from '../operation.js';
import type { RuleName } from '../policy/index.js';
import { hostDocs } from './hosts.docs.js';

const window = until('2.42', true as const);
const anyQuery = query({}, { extra: 'ignore' });

const listed = view<ServiceState, ComputeCall>({
  host_name: field(z.string(), ({ service }) => service.host),
  service: field(z.string(), ({ service }) => service.binary.replace(/^nova-/, '')),
  zone: field(z.string(), ({ zone }) => zone),
});

const resource = z.strictObject({
  host: z.string(),
  project: z.string(),
  cpu: z.int(),
  memory_mb: z.int(),
  disk_gb: z.int(),
});

function resourceOf(host: string, { project, cpu, memoryMb, diskGb }: HostShare): z.infer<typeof resource> {
  return { host, project, cpu, memory_mb: memoryMb, disk_gb: diskGb };
}

const requested = z
  .enum(['enable', 'disable', 'Enable', 'Disable', 'ENABLE', 'DISABLE'])
  .transform((text) => text.toLowerCase() === 'enable');

interface HostPowerOperation extends Pick<OperationTexts, 'name' | 'description'>, Pick<Operation, 'summary'> {
  readonly action: HostPowerAction;
  readonly policy: RuleName;
}

const power = [
  {
    action: 'reboot',
    name: 'rebootHost',
    policy: 'os_compute_api:os-hosts:reboot',
    summary: 'Reboot a host',
    description: 'Reboots a host. Requires support by the driver. This GET request has side effects.',
  },
  {
    action: 'shutdown',
    name: 'shutdownHost',
    policy: 'os_compute_api:os-hosts:shutdown',
    summary: 'Shut a host down',
    description: 'Shuts down a host. Requires support by the driver. This GET request has side effects.',
  },
  {
    action: 'startup',
    name: 'startHost',
    policy: 'os_compute_api:os-hosts:start',
    summary: 'Start a host',
    description: 'Starts a host. Requires support by the driver. This GET request has side effects.',
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
    description: 'Lists hosts with their services. Replaced by the lists of services and hypervisors.',
    policy: 'os_compute_api:os-hosts:list',
    status: 200,
    query: query({ zone: one(z.string()) }, { extra: 'ignore' }),
    reply: { hosts: [listed] },
    run: async ({ engine, query: { zone } }) => ({ hosts: await engine.hosts.list({ zone: zone || undefined }) }),
  }),
  operation({
    ...hostDocs,
    name: 'showHost',
    method: 'GET',
    path: '/os-hosts/{id}',
    window,
    summary: 'Show the capacity and usage of a host',
    description: 'Shows the capacity of a host and its usage, in total and per project.',
    policy: 'os_compute_api:os-hosts:show',
    status: 200,
    errors: [404],
    query: anyQuery,
    reply: { host: z.array(z.strictObject({ resource })) },
    run: async ({ engine, params: { id } }) => ({
      host: (await engine.hosts.shares(id)).map((share) => ({ resource: resourceOf(id, share) })),
    }),
  }),
  operation({
    ...hostDocs,
    name: 'updateHost',
    method: 'PUT',
    path: '/os-hosts/{id}',
    window,
    summary: 'Update the status or maintenance mode of a host',
    description: 'Enables or disables a host, or starts or ends its maintenance mode. Requires support by the driver.',
    policy: 'os_compute_api:os-hosts:update',
    status: 200,
    errors: [400, 404, 501],
    body: z
      .strictObject({ status: requested.optional(), maintenance_mode: requested.optional() })
      .refine((body) => Object.keys(body).length > 0, { message: 'One of status and maintenance_mode is required' }),
    reply: z.strictObject({
      host: z.string(),
      status: z.enum(['enabled', 'disabled']).optional(),
      maintenance_mode: z.enum(['on_maintenance', 'off_maintenance']).optional(),
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
  ...power.map(({ action, ...described }) =>
    operation({
      ...hostDocs,
      ...described,
      method: 'GET',
      path: `/os-hosts/{id}/${action}`,
      window,
      status: 200,
      errors: [400, 404, 501],
      query: anyQuery,
      reply: z.strictObject({ host: z.string(), power_action: z.string() }),
      run: async ({ engine, params: { id: host } }) => ({ host, power_action: await engine.hosts.power(host, action) }),
    }),
  ),
];
