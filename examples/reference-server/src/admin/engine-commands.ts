import { randomUUID } from 'node:crypto';
import type { Context, Engine, PurgeReport, QuotaKind } from '@apistrata/compute-engine';
import { quotaKinds } from '@apistrata/compute-engine';
import type { QuotaValues, ServiceState } from '@apistrata/compute-engine/api';
import { choice, flag, text } from '../option-kinds.js';
import { type AdminRequest, type EngineCommand, formatColumns, UsageError } from './admin-command.js';
import { webhookFailuresCommand, webhookRetryCommand } from './webhook-commands.js';

const AGE_UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parseAgeMs({ own }: AdminRequest): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(own['older-than'] ?? '') ?? [];
  if (count === undefined) throw new UsageError('db purge needs --older-than AGE, such as 30d, 12h or 90m');
  return Number(count) * AGE_UNITS_MS[unit as keyof typeof AGE_UNITS_MS];
}

const purgeCommand: EngineCommand<PurgeReport> = {
  on: 'engine',
  usage: '--older-than AGE',
  summary: 'remove the records of deleted servers, and all data past its retention period',
  argumentCount: [0, 0],
  options: { 'older-than': text('AGE', 'minimum time since the deletion: 30d, 12h, 90m or 0d') },
  check: (requested) => void parseAgeMs(requested),
  run: (engine, requested) => {
    const deletedBefore = engine.clock.now() - parseAgeMs(requested);
    return engine.retention.purge({ ...engine.retention.limits(), deletedBefore });
  },
  text: (report) =>
    `Removed: ${Object.entries(report)
      .map(([kind, n]) => `${n} ${kind}`)
      .join(', ')}.`,
};

interface ProjectQuota {
  readonly project: string;
  readonly user: string | null;
  readonly limits: QuotaValues;
  readonly used: QuotaValues;
}

const userOption = { user: text('ID', 'quota of one user in the project') };

async function quotaOf(engine: Engine, { arguments: [projectId = ''], own }: AdminRequest): Promise<ProjectQuota> {
  const scope = { projectId, userId: own.user };
  const [limits, used] = await Promise.all([engine.quotas.limits(scope), engine.quotas.usage(scope)]);
  return { project: scope.projectId, user: own.user ?? null, limits, used };
}

function formatQuota({ limits, used }: ProjectQuota): string {
  const rows = quotaKinds.map((kind) => [kind, limits[kind] === -1 ? 'unlimited' : limits[kind], used[kind]]);
  return formatColumns([['quota', 'limit', 'used'], ...rows]);
}

const quotaShowCommand: EngineCommand<ProjectQuota> = {
  on: 'engine',
  usage: 'PROJECT',
  summary: 'show the limits and usage of a project',
  argumentCount: [1, 1],
  options: userOption,
  run: quotaOf,
  text: formatQuota,
};

function parseLimits({ arguments: args }: AdminRequest): Partial<Record<QuotaKind, number>> {
  const limitEntries = args.slice(1).map((word) => {
    const [, name, value] = /^([a-z_]+)=(-1|\d{1,9})$/.exec(word) ?? [];
    if (!quotaKinds.includes(name as QuotaKind))
      throw new UsageError(`'${word}' is not a limit: use NAME=N (-1 for unlimited). Names: ${quotaKinds.join(', ')}`);
    return [name, Number(value)];
  });
  return Object.fromEntries(limitEntries);
}

const quotaSetCommand: EngineCommand<ProjectQuota> = {
  on: 'engine',
  usage: 'PROJECT NAME=N ...',
  summary: 'set the limits of a project; -1 is unlimited',
  argumentCount: [2, 1 + quotaKinds.length],
  options: { ...userOption, force: flag('allow limits below the current usage') },
  check: (requested) => void parseLimits(requested),
  run: async (engine, requested) => {
    const {
      arguments: [projectId = ''],
      own,
    } = requested;
    await engine.quotas.set({ projectId, userId: own.user }, parseLimits(requested), { force: own.force });
    return quotaOf(engine, requested);
  },
  text: formatQuota,
};

interface ServiceRow {
  readonly host: string;
  readonly binary: string;
  readonly zone: string;
  readonly status: 'enabled' | 'disabled';
  readonly state: 'up' | 'down';
  readonly reason: string | null;
}

const serviceRowOf = ({ service, zone, up }: ServiceState): ServiceRow => ({
  host: service.host,
  binary: service.binary,
  zone,
  status: service.disabled ? 'disabled' : 'enabled',
  state: up ? 'up' : 'down',
  reason: service.disabledReason,
});

interface ServiceRows {
  readonly services: readonly ServiceRow[];
}

function formatServices({ services }: ServiceRows): string {
  const rows = services.map(({ host, binary, zone, status, state, reason }) => [
    host,
    binary,
    zone,
    status,
    state,
    reason,
  ]);
  return formatColumns([['host', 'binary', 'zone', 'status', 'state', 'reason'], ...rows]);
}

const serviceListCommand: EngineCommand<ServiceRows> = {
  on: 'engine',
  usage: '',
  summary: 'list the services of the cloud',
  argumentCount: [0, 0],
  run: async (engine) => ({ services: (await engine.services.list()).map(serviceRowOf) }),
  text: formatServices,
};

/** The binary name of compute services. */
const COMPUTE_BINARY = 'nova-compute';

function createServiceCommand(disabled: boolean): EngineCommand<ServiceRows> {
  return {
    on: 'engine',
    usage: 'HOST',
    summary: disabled ? 'stop placing servers on a host; existing servers stay' : 'resume placing servers on a host',
    argumentCount: [1, 1],
    ...(disabled && { options: { reason: text('TEXT', 'reason, shown to other administrators') } }),
    run: async (engine, { arguments: [host = ''], own }) => {
      const { service } = await engine.services.on(host, COMPUTE_BINARY);
      const disabledReason = disabled ? (own.reason ?? null) : null;
      return { services: [serviceRowOf(await engine.services.update(service.id, { disabled, disabledReason }))] };
    },
    text: formatServices,
  };
}

/** Returns the caller of admin commands. Its user id appears in the action history of servers. */
function createOperatorContext(): Context {
  const caller = { userId: 'operator', projectId: 'operator', roles: ['admin'], isAdmin: true };
  return { caller, requestId: `req-${randomUUID()}`, isAdmin: true };
}

const resetStateCommand: EngineCommand<{ servers: readonly string[]; state: string }> = {
  on: 'engine',
  usage: 'ID ...',
  summary: 'set the state of servers, regardless of actions in progress',
  argumentCount: [1, 100],
  options: { state: choice('STATE', ['error', 'active'], 'error', 'error or active') },
  run: async (engine, { arguments: args, own }) => {
    for (const id of args) await engine.servers.act(createOperatorContext(), id, 'os-resetState', { state: own.state });
    return { servers: args, state: own.state };
  },
  text: ({ servers, state }) => `${servers.join(', ')}: ${state} now.`,
};

/** Commands that use an engine. */
export const engineCommands: Readonly<Record<string, EngineCommand>> = {
  'db purge': purgeCommand,
  'quota show': quotaShowCommand,
  'quota set': quotaSetCommand,
  'service list': serviceListCommand,
  'service enable': createServiceCommand(false),
  'service disable': createServiceCommand(true),
  'server reset-state': resetStateCommand,
  'webhook failures': webhookFailuresCommand,
  'webhook retry': webhookRetryCommand,
};
