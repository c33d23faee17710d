import { randomUUID } from 'node:crypto';
import type { Context, Engine, PurgeReport, QuotaKind } from '@apistrata/compute-engine';
import { quotaKinds } from '@apistrata/compute-engine';
import type { QuotaValues, ServiceState } from '@apistrata/compute-engine/api';
import { choice, flag, text } from '../option-kinds.js';
import { type Asked, columns, type EngineCommand, UsageError } from './admin-command.js';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function ageMs({ own }: Asked): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(own['older-than'] ?? '') ?? [];
  if (count === undefined) throw new UsageError('db purge needs --older-than AGE, such as 30d, 12h or 90m');
  return Number(count) * UNITS_MS[unit!]!;
}

const purge: EngineCommand<PurgeReport> = {
  on: 'engine',
  usage: '--older-than AGE',
  summary: 'remove the records of deleted servers, and all data past its retention period',
  words: [0, 0],
  options: { 'older-than': text('AGE', 'minimum age of the deletion: 30d, 12h, 90m or 0d') },
  check: (asked) => void ageMs(asked),
  run: (engine, asked) => {
    const deletedBefore = engine.clock.now() - ageMs(asked);
    return engine.retention.purge({ ...engine.retention.limits(), deletedBefore });
  },
  text: (report) =>
    `Removed: ${Object.entries(report)
      .map(([kind, n]) => `${n} ${kind}`)
      .join(', ')}.`,
};

interface Quota {
  readonly project: string;
  readonly user: string | null;
  readonly limits: QuotaValues;
  readonly used: QuotaValues;
}

const ofUser = { user: text('ID', 'quota of one user in the project') };

async function quotaOf(engine: Engine, { words, own }: Asked): Promise<Quota> {
  const scope = { projectId: words[0]!, userId: own.user };
  const [limits, used] = await Promise.all([engine.quotas.limits(scope), engine.quotas.usage(scope)]);
  return { project: scope.projectId, user: own.user ?? null, limits, used };
}

function quotaText({ limits, used }: Quota): string {
  const rows = quotaKinds.map((kind) => [kind, limits[kind] === -1 ? 'unlimited' : limits[kind], used[kind]]);
  return columns([['quota', 'limit', 'used'], ...rows]);
}

const quotaShow: EngineCommand<Quota> = {
  on: 'engine',
  usage: 'PROJECT',
  summary: 'show the limits and the usage of a project',
  words: [1, 1],
  options: ofUser,
  run: quotaOf,
  text: quotaText,
};

function limitsIn({ words }: Asked): Partial<Record<QuotaKind, number>> {
  const entries = words.slice(1).map((word) => {
    const [, name, value] = /^([a-z_]+)=(-1|\d{1,9})$/.exec(word) ?? [];
    if (!quotaKinds.includes(name as QuotaKind))
      throw new UsageError(`'${word}' is no limit: it is NAME=N, -1 for unlimited, with ${quotaKinds.join(', ')}`);
    return [name, Number(value)];
  });
  return Object.fromEntries(entries);
}

const quotaSet: EngineCommand<Quota> = {
  on: 'engine',
  usage: 'PROJECT NAME=N ...',
  summary: 'set the limits of a project; -1 is unlimited',
  words: [2, 1 + quotaKinds.length],
  options: { ...ofUser, force: flag('allow limits below the current usage') },
  check: (asked) => void limitsIn(asked),
  run: async (engine, asked) => {
    const { words, own } = asked;
    await engine.quotas.set({ projectId: words[0]!, userId: own.user }, limitsIn(asked), { force: own.force });
    return quotaOf(engine, asked);
  },
  text: quotaText,
};

interface ServiceRow {
  readonly host: string;
  readonly binary: string;
  readonly zone: string;
  readonly status: 'enabled' | 'disabled';
  readonly state: 'up' | 'down';
  readonly reason: string | null;
}

const rowOf = ({ service, zone, up }: ServiceState): ServiceRow => ({
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

function servicesText({ services }: ServiceRows): string {
  const rows = services.map(({ host, binary, zone, status, state, reason }) => [
    host,
    binary,
    zone,
    status,
    state,
    reason,
  ]);
  return columns([['host', 'binary', 'zone', 'status', 'state', 'reason'], ...rows]);
}

const serviceList: EngineCommand<ServiceRows> = {
  on: 'engine',
  usage: '',
  summary: 'list the services of the cloud',
  words: [0, 0],
  run: async (engine) => ({ services: (await engine.services.list()).map(rowOf) }),
  text: servicesText,
};

/** The kind of service that has servers. */
const COMPUTE = 'nova-compute';

function serviceSwitch(disabled: boolean): EngineCommand<ServiceRows> {
  return {
    on: 'engine',
    usage: 'HOST',
    summary: disabled ? 'stop placing servers on a host; its servers stay' : 'resume placing servers on a host',
    words: [1, 1],
    ...(disabled && { options: { reason: text('TEXT', 'reason, shown to other operators') } }),
    run: async (engine, { words, own }) => {
      const { service } = await engine.services.on(words[0]!, COMPUTE);
      const disabledReason = disabled ? (own.reason ?? null) : null;
      return { services: [rowOf(await engine.services.update(service.id, { disabled, disabledReason }))] };
    },
    text: servicesText,
  };
}

/** As whom operators act: what they do is in the history of servers under this name. */
function operator(): Context {
  const caller = { userId: 'operator', projectId: 'operator', roles: ['admin'], isAdmin: true };
  return { caller, requestId: `req-${randomUUID()}`, isAdmin: true };
}

const resetState: EngineCommand<{ servers: readonly string[]; state: string }> = {
  on: 'engine',
  usage: 'ID ...',
  summary: 'set the state of servers, regardless of actions in progress',
  words: [1, 100],
  options: { state: choice('STATE', ['error', 'active'], 'error', 'error or active') },
  run: async (engine, { words, own }) => {
    for (const id of words) await engine.servers.act(operator(), id, 'os-resetState', { state: own.state });
    return { servers: words, state: own.state };
  },
  text: ({ servers, state }) => `${servers.join(', ')}: ${state} now.`,
};

/** Commands that change what the engine keeps. */
export const engineCommands: Readonly<Record<string, EngineCommand>> = {
  'db purge': purge,
  'quota show': quotaShow,
  'quota set': quotaSet,
  'service list': serviceList,
  'service enable': serviceSwitch(false),
  'service disable': serviceSwitch(true),
  'server reset-state': resetState,
};
