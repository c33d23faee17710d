import type { ProjectUsage, ServerUsage } from '@apistrata/compute-engine/api';
import { field, nestedList, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

const amount = z.number().min(0);
const count = z.int().min(0);

const serverUsage = view<ServerUsage, ComputeCall>({
  instance_id: described(
    'UUID of the server.',
    field(z.string(), ({ server }) => server.id),
  ),
  tenant_id: described(
    'ID of the project.',
    field(z.string(), ({ server }) => server.projectId),
  ),
  name: described(
    'Name of the server.',
    field(z.string(), ({ server }) => server.name),
  ),
  flavor: described(
    'Name of the flavor of the server.',
    field(z.string(), ({ server }) => server.flavor.name),
  ),
  vcpus: described(
    'Number of virtual CPUs.',
    field(count, ({ server }) => server.flavor.vcpus),
  ),
  memory_mb: described(
    'Memory, in MiB.',
    field(count, ({ server }) => server.flavor.memoryMb),
  ),
  local_gb: described(
    'Root disk plus ephemeral disk, in GiB.',
    field(count, ({ server: { flavor } }) => flavor.diskGb + flavor.ephemeralGb),
  ),
  hours: described(
    'Hours that the server existed within the period.',
    field(amount, ({ hours }) => hours),
  ),
  uptime: described(
    'Seconds since the server was launched, independent of the period.',
    field(count, ({ uptimeSeconds }) => uptimeSeconds),
  ),
  started_at: described(
    'Time when the server was launched, in UTC with microseconds.',
    field(type.time, ({ server }) => type.showTime(server.launchedAt)),
  ),
  ended_at: described(
    'Time when the server was deleted, in UTC with microseconds, or null.',
    field(type.nullableTime, ({ server }) => type.showNullableTime(server.terminatedAt)),
  ),
  state: described(
    'State of the server. `terminated` after deletion.',
    field(z.string(), ({ server }) => (server.terminatedAt === null ? server.vmState : 'terminated')),
  ),
});

/** Formats microseconds since the epoch, with all digits. */
function showUs(us: number): string {
  const ms = Math.floor(us / 1000);
  return `${new Date(ms).toISOString().slice(0, 23)}${String(us - ms * 1000).padStart(3, '0')}`;
}

/** The usage of one project, with its servers if `detailed` was requested; undefined for no usage. */
interface UsageReport {
  readonly usage: ProjectUsage | undefined;
  readonly detailed: boolean;
}

/** A description, a schema, and the value of a report. */
type TotalField = readonly [description: string, schema: z.ZodType, get: (usage: ProjectUsage) => unknown];

const totals = {
  tenant_id: ['ID of the project.', z.string(), (usage: ProjectUsage) => usage.projectId],
  start: [
    'Start of the period, in UTC with microseconds.',
    type.time,
    ({ window }: ProjectUsage) => showUs(window.startUs),
  ],
  stop: ['End of the period, in UTC with microseconds.', type.time, ({ window }: ProjectUsage) => showUs(window.endUs)],
  total_hours: [
    'Sum of server hours. With pagination, the sum of the page.',
    amount,
    (usage: ProjectUsage) => usage.totalHours,
  ],
  total_vcpus_usage: [
    'Sum of virtual CPUs multiplied by hours. With pagination, the sum of the page.',
    amount,
    (usage: ProjectUsage) => usage.totalVcpuHours,
  ],
  total_memory_mb_usage: [
    'Sum of memory in MiB multiplied by hours. With pagination, the sum of the page.',
    amount,
    (usage: ProjectUsage) => usage.totalMemoryMbHours,
  ],
  total_local_gb_usage: [
    'Sum of disk in GiB multiplied by hours. With pagination, the sum of the page.',
    amount,
    (usage: ProjectUsage) => usage.totalLocalGbHours,
  ],
} as const satisfies Readonly<Record<string, TotalField>>;

type Shape = ViewShape<UsageReport, ComputeCall>;

function shapeOf(present: (schema: z.ZodType) => z.ZodType): Shape {
  const entries: readonly (readonly [string, TotalField])[] = Object.entries(totals);
  return {
    ...Object.fromEntries(
      entries.map(([name, [description, schema, get]]) => [
        name,
        described(
          description,
          field(present(schema), ({ usage }) => usage && get(usage)),
        ),
      ]),
    ),
    server_usages: described(
      'Usage by server.',
      nestedList(serverUsage, ({ usage, detailed }: UsageReport) => (detailed ? usage?.servers : undefined)),
    ),
  };
}

/** An element of the report on all projects. */
export const listedUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema));
/** The report on one project: an empty object if it used nothing. */
export const shownUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema.optional()));
