import type { ProjectUsage, ServerUsage } from '@apistrata/compute-engine/api';
import { field, nestedList, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

const amount = z.number().min(0);
const count = z.int().min(0);

const serverUsage = view<ServerUsage, ComputeCall>({
  instance_id: field(z.string(), ({ server }) => server.id),
  tenant_id: field(z.string(), ({ server }) => server.projectId),
  name: field(z.string(), ({ server }) => server.name),
  flavor: field(z.string(), ({ server }) => server.flavor.name),
  vcpus: field(count, ({ server }) => server.flavor.vcpus),
  memory_mb: field(count, ({ server }) => server.flavor.memoryMb),
  local_gb: field(count, ({ server: { flavor } }) => flavor.diskGb + flavor.ephemeralGb),
  hours: field(amount, ({ hours }) => hours),
  uptime: field(count, ({ uptimeSeconds }) => uptimeSeconds),
  started_at: field(type.time, ({ server }) => type.showTime(server.launchedAt)),
  ended_at: field(type.nullableTime, ({ server }) => type.showNullableTime(server.terminatedAt)),
  state: field(z.string(), ({ server }) => (server.terminatedAt === null ? server.vmState : 'terminated')),
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

const totals = {
  tenant_id: [z.string(), (usage: ProjectUsage) => usage.projectId],
  start: [type.time, ({ window }: ProjectUsage) => showUs(window.startUs)],
  stop: [type.time, ({ window }: ProjectUsage) => showUs(window.endUs)],
  total_hours: [amount, (usage: ProjectUsage) => usage.totalHours],
  total_vcpus_usage: [amount, (usage: ProjectUsage) => usage.totalVcpuHours],
  total_memory_mb_usage: [amount, (usage: ProjectUsage) => usage.totalMemoryMbHours],
  total_local_gb_usage: [amount, (usage: ProjectUsage) => usage.totalLocalGbHours],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, (usage: ProjectUsage) => unknown]>>;

type Shape = ViewShape<UsageReport, ComputeCall>;

function shapeOf(present: (schema: z.ZodType) => z.ZodType): Shape {
  const entries: readonly (readonly [string, readonly [z.ZodType, (usage: ProjectUsage) => unknown]])[] =
    Object.entries(totals);
  return {
    ...Object.fromEntries(
      entries.map(([name, [schema, get]]) => [name, field(present(schema), ({ usage }) => usage && get(usage))]),
    ),
    server_usages: nestedList(serverUsage, ({ usage, detailed }: UsageReport) =>
      detailed ? usage?.servers : undefined,
    ),
  };
}

/** An element of the report on all projects. */
export const listedUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema));
/** The report on one project: an empty object if it used nothing. */
export const shownUsage = view<UsageReport, ComputeCall>(shapeOf((schema) => schema.optional()));
