import type { ProjectUsage, ServerUsage } from '@apistrata/compute-engine/api';
import { described } from '@apistrata/microversion/schema';
import { nestedList, type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { field, nullableTime, text, time } from './fields.js';

const amountSchema = z.number().min(0);
const countSchema = z.int().min(0);

const serverUsage = view<ServerUsage, ComputeCall>({
  instance_id: text('UUID of the server.', ({ server }) => server.id),
  tenant_id: text('ID of the project.', ({ server }) => server.projectId),
  name: text('Name of the server.', ({ server }) => server.name),
  flavor: text('Name of the flavor of the server.', ({ server }) => server.flavor.name),
  vcpus: field('Number of virtual CPUs.', countSchema, ({ server }) => server.flavor.vcpus),
  memory_mb: field('Memory, in MiB.', countSchema, ({ server }) => server.flavor.memoryMb),
  local_gb: field(
    'Total size of the root disk and the ephemeral disk, in GiB.',
    countSchema,
    ({ server: { flavor } }) => flavor.diskGb + flavor.ephemeralGb,
  ),
  hours: field('Number of hours for which the server existed within the period.', amountSchema, ({ hours }) => hours),
  uptime: field(
    'Number of seconds from the launch of the server to its deletion or to now, regardless of the period.',
    countSchema,
    ({ uptimeSeconds }) => uptimeSeconds,
  ),
  started_at: time(
    'Time when the server was launched, in UTC with microsecond precision.',
    ({ server }) => server.launchedAt,
  ),
  ended_at: nullableTime(
    'Time when the server was deleted, in UTC with microsecond precision, or null.',
    ({ server }) => server.terminatedAt,
  ),
  state: text('State of the server, or `terminated` after deletion.', ({ server }) =>
    server.terminatedAt === null ? server.vmState : 'terminated',
  ),
});

/** Formats a time in microseconds since the epoch, with six fractional digits. */
function formatMicroseconds(us: number): string {
  const ms = Math.floor(us / 1000);
  return `${new Date(ms).toISOString().slice(0, 23)}${String(us - ms * 1000).padStart(3, '0')}`;
}

/**
 * A project's usage, which is undefined if the project did not use any resources, and whether to include each server's
 * usage.
 */
interface UsageReport {
  readonly usage: ProjectUsage | undefined;
  readonly detailed: boolean;
}

/** The description, schema and getter of a field. */
type TotalField = readonly [description: string, schema: z.ZodType, get: (usage: ProjectUsage) => unknown];

const totals = {
  tenant_id: ['ID of the project.', z.string(), (usage: ProjectUsage) => usage.projectId],
  start: [
    'Start of the period, in UTC with microsecond precision.',
    type.time,
    ({ window }: ProjectUsage) => formatMicroseconds(window.startUs),
  ],
  stop: [
    'End of the period, in UTC with microsecond precision.',
    type.time,
    ({ window }: ProjectUsage) => formatMicroseconds(window.endUs),
  ],
  total_hours: [
    'Sum of the hours of all servers. With pagination, the sum for the servers on this page.',
    amountSchema,
    (usage: ProjectUsage) => usage.totalHours,
  ],
  total_vcpus_usage: [
    'Sum of virtual CPUs multiplied by hours, for all servers. With pagination, for the servers on this page.',
    amountSchema,
    (usage: ProjectUsage) => usage.totalVcpuHours,
  ],
  total_memory_mb_usage: [
    'Sum of memory in MiB multiplied by hours, for all servers. With pagination, for the servers on this page.',
    amountSchema,
    (usage: ProjectUsage) => usage.totalMemoryMbHours,
  ],
  total_local_gb_usage: [
    'Sum of disk in GiB multiplied by hours, for all servers. With pagination, for the servers on this page.',
    amountSchema,
    (usage: ProjectUsage) => usage.totalLocalGbHours,
  ],
} as const satisfies Readonly<Record<string, TotalField>>;

type Shape = ViewShape<UsageReport, ComputeCall>;

function shapeOf(adaptSchema: (schema: z.ZodType) => z.ZodType): Shape {
  const entries: readonly (readonly [string, TotalField])[] = Object.entries(totals);
  return {
    ...Object.fromEntries(
      entries.map(([name, [description, schema, get]]) => [
        name,
        field(description, adaptSchema(schema), ({ usage }) => usage && get(usage)),
      ]),
    ),
    server_usages: described(
      'Usage by server.',
      nestedList(serverUsage, ({ usage, detailed }: UsageReport) => (detailed ? usage?.servers : undefined)),
    ),
  };
}

/** The representation of a project's usage in the list for all projects. */
export const listedUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema));
/** The representation of a single project's usage: an empty object if the project did not use any resources. */
export const shownUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema.optional()));
